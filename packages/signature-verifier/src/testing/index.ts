export { challengeStorageContract, challengeStorageFaults } from './challenges.ts'
export { nonceStorageContract, nonceStorageFaults } from './nonces.ts'
export type { ChallengeStorage, NonceStorage } from '../storage/port.ts'
export type { NoncesUnderTest } from './storage-under-test.ts'
