export { challengeStorageContract, challengeStorageFaults } from './challenges.ts'
export { nonceStorageContract, nonceStorageFaults } from './nonces.ts'
export type { StorageUnderTest } from './storage-under-test.ts'
