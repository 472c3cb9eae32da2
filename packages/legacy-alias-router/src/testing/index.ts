export { aliasUsageStorageContract } from './contract.ts'
export { aliasUsageStorageFaults } from './faults.ts'
export type { AliasUsageStorage } from '../storage/port.ts'
