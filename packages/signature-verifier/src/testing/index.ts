export { challengeStorageContract, challengeStorageFaults } from './challenges.ts'
export { nonceStorageContract, nonceStorageFaults } from './nonces.ts'
