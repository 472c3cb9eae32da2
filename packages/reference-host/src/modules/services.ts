import type { Verifier } from '@gatewright/signature-verifier'
import type { HostServices, EntryLimits, WebTokens } from '@gatewright/host'
import type { PayinReceiver } from '../chain/receivers.ts'
import type { TransactionLookups } from '../chain/transaction-lookups.ts'
import type { Plan } from '../product/plans.ts'
import type { Product } from '../product/product.ts'
import type { Providers } from '../providers/ports.ts'
import type { AgreementAcceptances } from './agreements/acceptance.ts'
import type { Authorizations } from './cards/authorizations/service.ts'
import type { CardKeyPolicies } from './cards/key-policies.ts'
import type { SeedCards } from './cards/sandbox-cards.ts'
import type { AccountCipher } from './crypto/account-cipher.ts'
import type { DepositRecords } from './deposits/records.ts'
import type { KycRecords } from './kyc/records.ts'
import type { AddressAllocator } from './subscriptions/onchain/allocate-address.ts'
import type { PayinSettlement } from './subscriptions/payins/settlement.ts'
import type { TokenUse } from './tokens/token.ts'
import type { UserStore } from './users/store.ts'
import type { ChallengeCodec } from './web-sign-in/challenge.ts'
import type { WithdrawalRecords } from './withdrawals/records.ts'

/** All services that operations can use. Each operation destructures those it needs. */
export interface ModuleServices
  extends Pick<
    HostServices,
    | 'clock'
    | 'environment'
    | 'aliases'
    | 'issuer'
    | 'guard'
    | 'ledger'
    | 'money'
    | 'spendStorage'
    | 'sealer'
    | 'origin'
    | 'jobs'
    | 'requirements'
    | 'db'
  > {
  readonly verifier: Verifier
  readonly users: UserStore
  readonly cardKeyPolicies: CardKeyPolicies
  readonly authorizations: Authorizations
  readonly seedCards: SeedCards
  readonly addressAllocator: AddressAllocator
  readonly settlement: PayinSettlement
  /** Reads the tokens that the providers of deposits and withdrawals support. Rejects with a fault while one of them is down. */
  readonly providerTokens: () => Promise<readonly TokenUse[]>
  readonly deposits: DepositRecords
  readonly withdrawals: WithdrawalRecords
  readonly challenges: ChallengeCodec
  readonly webTokens: WebTokens
  readonly limits: Pick<EntryLimits, 'poll'>
  readonly cipher: AccountCipher
  readonly acceptances: AgreementAcceptances
  readonly kyc: KycRecords
  /** The providers of this host. Operations whose provider is absent are not served. */
  readonly providers: Providers
  readonly product: Product
  readonly plans: readonly Plan[]
  readonly receivers: readonly PayinReceiver[]
  readonly lookups: TransactionLookups
}
