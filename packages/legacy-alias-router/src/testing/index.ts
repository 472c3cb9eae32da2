export { aliasUsageStorageContract } from './contract.ts'
export { aliasUsageStorageFaults } from './faults.ts'
