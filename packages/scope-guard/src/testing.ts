export { spendStorageContract, spendStorageFaults } from './testing/spend.ts'
export type { HurtSpendStorage, SpendStorageUnderTest } from './testing/spend.ts'
