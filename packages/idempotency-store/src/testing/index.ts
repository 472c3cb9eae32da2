export { idempotencyStorageContract } from './contract.ts'
export { idempotencyStorageFaults } from './faults.ts'
export type { IdempotencyStorage } from '../storage/port.ts'
