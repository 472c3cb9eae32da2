export type { NonceStorage } from './storage/port.ts'
