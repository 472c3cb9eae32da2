export { idempotencyStorageContract } from './testing/contract.ts'
export { idempotencyStorageFaults } from './testing/faults.ts'
export type { IdempotencyStorageUnderTest } from './testing/contract.ts'
export type { FaultyIdempotencyStorage } from './testing/faults.ts'
