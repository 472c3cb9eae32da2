export { keyStorageContract, keyStorageFaults } from './testing/keys.ts'
export { sessionStorageContract, sessionStorageFaults } from './testing/sessions.ts'
export { signingKeyStorageContract } from './testing/signing-keys.ts'
export type { Hurt, UnderTest, UnderTestWithFeed } from './testing/suite.ts'
