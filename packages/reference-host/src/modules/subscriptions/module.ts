import type { HostServices, Module } from '@gatewright/host'
import type { ChainReader } from '../../chain/reader.ts'
import type { PayinReceiver } from '../../chain/receivers.ts'
import type { TransactionLookups } from '../../chain/transaction-lookups.ts'
import type { Config } from '../../config/config.ts'
import type { ProductMetrics } from '../../product/metrics.ts'
import type { Plan } from '../../product/plans.ts'
import type { UserStore } from '../users/store.ts'
import { cancelSubscription } from './api/cancel.ts'
import { confirmBalance } from './api/confirm-balance.ts'
import { confirmPayin } from './api/confirm.ts'
import { checkout, createPayin } from './api/create.ts'
import { subscriptionReads } from './api/read.ts'
import { simulatePayment } from './api/simulate-payment.ts'
import { subscriptionChores } from './chores.ts'
import type { AddressAllocator } from './onchain/allocate-address.ts'
import { addressesRestored } from './onchain/skip-addresses.ts'
import { syncDepositAddresses } from './onchain/sync-deposit-addresses.ts'
import { collectUnpaidPayins } from './payins/collect.ts'
import type { PayinSettlement } from './payins/settlement.ts'

const DAY_MS = 86_400_000

/** What this part of the product works with. */
interface SubscriptionsServices extends HostServices {
  readonly addressAllocator: AddressAllocator
  readonly config: Config
  readonly lookups: TransactionLookups
  readonly plans: readonly Plan[]
  readonly productMetrics: ProductMetrics
  readonly readers: ReadonlyMap<number, ChainReader>
  readonly receivers: readonly PayinReceiver[]
  readonly settlement: PayinSettlement
  readonly users: UserStore
}

/** Subscriptions, and pay-ins for them on chains. */
export const subscriptionsModule: Module<SubscriptionsServices> = {
  operations: services => [
    createPayin(services),
    confirmPayin(services),
    confirmBalance(services),
    checkout(services),
    ...subscriptionReads(services),
    cancelSubscription(services),
    ...simulatePayment(services),
  ],
  chores: subscriptionChores,
  collectors: ({ db, clock, config }) => [
    limit => collectUnpaidPayins(db, limit, clock.now() - config.unpaidPayinDays * DAY_MS),
  ],
  start: ({ db, receivers }) => syncDepositAddresses(db, receivers),
  restored: addressesRestored,
  commands: () => import('./commands.ts'),
}
