import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { Aliases } from '@gatewright/legacy-alias-router'
import type { Issuer } from '@gatewright/session-issuer'
import type { Verifier } from '@gatewright/signature-verifier'
import type { PayinReceiver } from '../chain/receivers.ts'
import type { TransactionLookups } from '../chain/transaction-lookups.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Plan } from '../product/plans.ts'
import type { CardStore } from './cards/store.ts'
import type { AddressAllocator } from './subscriptions/onchain/allocate-address.ts'
import type { PayinStore } from './subscriptions/payins/payin-store.ts'
import type { PayinSettlement } from './subscriptions/payins/settlement.ts'
import type { SubscriptionStore } from './subscriptions/subscription-store.ts'
import type { UserStore } from './users/store.ts'

/** All services that operations can use. Each operation destructures the ones it needs. */
export interface ModuleServices {
  readonly clock: Clock
  readonly environment: 'sandbox' | 'live'
  readonly aliases: Aliases
  readonly verifier: Verifier
  readonly issuer: Issuer
  readonly users: UserStore
  readonly cards: CardStore
  readonly payins: PayinStore
  readonly addressAllocator: AddressAllocator
  readonly subscriptions: SubscriptionStore
  readonly settlement: PayinSettlement
  readonly ledger: Ledger
  /** For reads outside a financial write. */
  readonly db: SqlClient
  readonly plans: readonly Plan[]
  readonly receivers: readonly PayinReceiver[]
  readonly lookups: TransactionLookups
}
