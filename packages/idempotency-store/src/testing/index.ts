export { idempotencyStorageContract } from './contract.ts'
export { idempotencyStorageFaults } from './faults.ts'
