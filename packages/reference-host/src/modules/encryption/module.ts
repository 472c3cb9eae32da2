import type { HostServices, Module } from '@gatewright/host'
import type { AccountCipher } from './account-cipher.ts'
import { cryptoOperations } from './operations.ts'
import { partnerCryptoOperations } from './partner-operations.ts'

/** What this part of the product works with. */
interface EncryptionServices extends HostServices {
  readonly cipher: AccountCipher
}

/** Encryption of texts with a key of their account. */
export const encryptionModule: Module<EncryptionServices> = {
  operations: services => [...cryptoOperations(services), ...partnerCryptoOperations(services)],
  commands: () => import('./commands.ts'),
}
