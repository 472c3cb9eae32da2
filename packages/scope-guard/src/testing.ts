export { spendStorageContract } from './testing/spend.ts'
export { spendStorageFaults } from './testing/spend-faults.ts'
export type { SpendStorageUnderTest } from './testing/spend.ts'
export type { HurtSpendStorage } from './testing/spend-faults.ts'
