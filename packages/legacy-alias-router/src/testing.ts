export { aliasUsageStorageContract } from './testing/contract.ts'
export { aliasUsageStorageFaults } from './testing/faults.ts'
export type { AliasUsageStorageUnderTest } from './testing/contract.ts'
export type { FaultyAliasUsageStorage } from './testing/faults.ts'
