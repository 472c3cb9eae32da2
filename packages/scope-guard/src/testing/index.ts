export { revocationFeedContract } from './revocation-feed.ts'
export { spendStorageContract } from './spend-storage.ts'
export { spendStorageFaults } from './spend-storage-faults.ts'
