export { memoryStore } from '../stores/memory.ts'
export { Accepted, Caller, Open, Read, Write } from './decorators.ts'
export { GatewrightModule, GatewrightParts } from './module.ts'
export type { OpenOperation, ReadOperation, WriteOperation } from '../operations.ts'
