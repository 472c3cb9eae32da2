export { idempotencyStorageContract } from './testing/contract.ts'
export { idempotencyStorageFaults } from './testing/faults.ts'
export type { IdempotencyStorageUnderTest } from './testing/contract.ts'
export type { HurtIdempotencyStorage } from './testing/faults.ts'
