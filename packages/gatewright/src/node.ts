export { gatewright, memoryStore } from './express.ts'
export type { ExpressGatewright, ExpressOptions } from './express.ts'
