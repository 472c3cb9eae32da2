import { createTransactionalIdempotency, type TransactionalIdempotency } from '@gatewright/idempotency-store'
import { systemClock, type Clock } from '@gatewright/kernel'
import { createAliases, type Aliases } from '@gatewright/legacy-alias-router'
import { createGuard, type Guard } from '@gatewright/scope-guard'
import { createIssuer, type Issuer } from '@gatewright/session-issuer'
import {
  createVerifier,
  keccakWithJsSha3,
  recoverWithViem,
  type FastestRecover,
  type RpcClient,
  type Verifier,
} from '@gatewright/signature-verifier'
import type { ChainReader } from '../chain/reader.ts'
import type { Config } from '../config/config.ts'
import type { Gates } from '../http/gates.ts'
import { isKeySession } from '../http/key-session.ts'
import { entryLimits, guardLimits, keyUseLimits, type EntryLimits } from '../http/limits.ts'
import { createLedger, type Ledger } from '../ledger/ledger.ts'
import { createMoney, type Money } from '../ledger/money.ts'
import { transactionStore, type TransactionStore } from '../ledger/transactions.ts'
import { agreementAcceptances, type AgreementAcceptances } from '../modules/agreements/acceptance.ts'
import { cardStore, type CardStore } from '../modules/cards/store.ts'
import { accountCipher, type AccountCipher } from '../modules/crypto/account-cipher.ts'
import { accountKeys } from '../modules/crypto/account-keys.ts'
import { depositRecords, type DepositRecords } from '../modules/deposits/records.ts'
import { kycRecords, type KycRecords } from '../modules/kyc/records.ts'
import { onboardingGates } from '../modules/onboarding/gates.ts'
import { partnerStore, type PartnerStore } from '../modules/partners/store.ts'
import { addressAllocator, type AddressAllocator } from '../modules/subscriptions/onchain/allocate-address.ts'
import { payinStore, type PayinStore } from '../modules/subscriptions/payins/payin-store.ts'
import { payinSettlement, type PayinSettlement } from '../modules/subscriptions/payins/settlement.ts'
import { subscriptionStore, type SubscriptionStore } from '../modules/subscriptions/subscription-store.ts'
import { userStore, type UserStore } from '../modules/users/store.ts'
import { withdrawalRecords, type WithdrawalRecords } from '../modules/withdrawals/records.ts'
import { createMetrics, type Metrics } from '../observability/metrics.ts'
import { aliasTable } from '../product/aliases.ts'
import { eventStore, type EventStore } from '../records/events.ts'
import { jobQueue, type JobQueue } from '../records/jobs.ts'
import { createSealer, type Sealer } from '../records/sealed.ts'
import type { Backend } from '../storage/backend.ts'
import type { Secrets } from '../storage/secrets.ts'
import { requiredService, defineService, type ServiceKey } from './container.ts'
import { jobHandlers } from './job-handlers.ts'
import { hostProviders, type Providers } from './providers.ts'

/** Issuer and audience of tokens: the public URL where one is configured. */
function audience({ publicUrl, environment }: Config): string {
  return publicUrl ?? `urn:gatewright:${environment}`
}

/** Created and closed by the process, outside the container. */
export const CONFIG: ServiceKey<Config> = requiredService('config')
export const BACKEND: ServiceKey<Backend> = requiredService('backend')
export const SECRETS: ServiceKey<Secrets> = requiredService('secrets')

/** Created by the container. */
export const CLOCK: ServiceKey<Clock> = defineService('clock', () => systemClock)
export const SEALER: ServiceKey<Sealer> = defineService('sealer', get => createSealer(get(SECRETS).dataKeys))
export const EVENTS: ServiceKey<EventStore> = defineService('events', get => eventStore(get(BACKEND).dialect))
export const CIPHER: ServiceKey<AccountCipher> = defineService('cipher', get =>
  accountCipher(accountKeys(get(BACKEND).sql, get(SEALER), get(CLOCK))),
)
export const ACCEPTANCES: ServiceKey<AgreementAcceptances> = defineService('agreement acceptances', get =>
  agreementAcceptances(get(CONFIG).product.agreements),
)
export const GATES: ServiceKey<Gates> = defineService('gates', get =>
  onboardingGates(get(CONFIG).gatedSurfaces, get(ACCEPTANCES)),
)
/** Providers that were given to this host. */
export const GIVEN_PROVIDERS: ServiceKey<Providers> = defineService('given providers', () => ({}))
export const PROVIDERS: ServiceKey<Providers> = defineService('providers', get =>
  hostProviders(get(GIVEN_PROVIDERS), {
    ...{ config: get(CONFIG), backend: get(BACKEND), clock: get(CLOCK) },
    count: (port, outcome) => get(METRICS).providerCall(port, outcome),
  }),
)
export const KYC: ServiceKey<KycRecords> = defineService('identity checks', get =>
  kycRecords(get(BACKEND).dialect, get(SEALER), get(EVENTS)),
)
/** Where failures of work beside requests go. */
export const REPORT: ServiceKey<(error: unknown) => void> = defineService('report', () => error => {
  process.emitWarning(error instanceof Error ? error : String(error))
})
export const JOBS: ServiceKey<JobQueue> = defineService('jobs', get =>
  jobQueue({
    ...{ db: get(BACKEND).sql, dialect: get(BACKEND).dialect, clock: get(CLOCK) },
    report: get(REPORT),
    handlers: jobHandlers(get(PROVIDERS), {
      ...{ db: get(BACKEND).sql, clock: get(CLOCK), report: get(REPORT), metrics: get(METRICS) },
      ...{ kyc: get(KYC), deposits: get(DEPOSITS), withdrawals: get(WITHDRAWALS) },
    }),
  }),
)
export const ALIASES: ServiceKey<Aliases> = defineService('aliases', () => createAliases(aliasTable))
export const METRICS: ServiceKey<Metrics> = defineService('metrics', () => createMetrics())
export const USERS: ServiceKey<UserStore> = defineService('users', get => userStore(get(BACKEND).sql))
export const PARTNERS: ServiceKey<PartnerStore> = defineService('partners', get =>
  partnerStore(get(BACKEND).sql),
)
export const CARDS: ServiceKey<CardStore> = defineService('cards', get => cardStore(get(BACKEND).sql))
export const ADDRESS_ALLOCATOR: ServiceKey<AddressAllocator> = defineService('address allocator', get =>
  addressAllocator(get(CONFIG).payinReceivers, get(BACKEND).dialect),
)
export const PAYINS: ServiceKey<PayinStore> = defineService('payins', get => payinStore(get(BACKEND).dialect))
export const SUBSCRIPTIONS: ServiceKey<SubscriptionStore> = defineService('subscriptions', get =>
  subscriptionStore(get(BACKEND).dialect),
)
export const LEDGER: ServiceKey<Ledger> = defineService('ledger', get =>
  createLedger(get(BACKEND).sql, get(BACKEND).dialect),
)
export const TRANSACTIONS: ServiceKey<TransactionStore> = defineService('transactions', get =>
  transactionStore(get(BACKEND).dialect),
)
export const MONEY: ServiceKey<Money> = defineService('money', get =>
  createMoney(get(LEDGER), get(TRANSACTIONS)),
)
export const DEPOSITS: ServiceKey<DepositRecords> = defineService('deposits', get =>
  depositRecords({ dialect: get(BACKEND).dialect, money: get(MONEY), events: get(EVENTS) }),
)
export const WITHDRAWALS: ServiceKey<WithdrawalRecords> = defineService('withdrawals', get =>
  withdrawalRecords({
    ...{ dialect: get(BACKEND).dialect, money: get(MONEY), events: get(EVENTS) },
    ...{ guard: get(GUARD), spendStorage: get(BACKEND).spend },
  }),
)
export const SETTLEMENT: ServiceKey<PayinSettlement> = defineService('settlement', get =>
  payinSettlement({
    payins: get(PAYINS),
    subscriptions: get(SUBSCRIPTIONS),
    money: get(MONEY),
    events: get(EVENTS),
    guard: get(GUARD),
    spendStorage: get(BACKEND).spend,
  }),
)

/** How signer addresses are recovered. Default: pure JavaScript. */
export const RECOVERY: ServiceKey<Pick<FastestRecover, 'recover' | 'keccak256'>> = defineService(
  'recovery',
  () => ({
    recover: recoverWithViem,
    keccak256: keccakWithJsSha3,
  }),
)

/** Chains on which contract wallets may sign, by chain id. */
export const CHAINS: ServiceKey<Readonly<Record<number, RpcClient>>> = defineService('chains', () => ({}))

/** Chains on which pay-ins are paid, by chain id. */
export const READERS: ServiceKey<ReadonlyMap<number, ChainReader>> = defineService('readers', () => new Map())
export const VERIFIER: ServiceKey<Verifier> = defineService('verifier', get => {
  const { publicUrl, host, port } = get(CONFIG)
  const chains = Object.entries(get(CHAINS)).map(([id, rpc]) => [id, { rpc }] as const)
  const { recover, keccak256 } = get(RECOVERY)
  return createVerifier({
    // The domain that EIP-4361 and v2 statements must name. A sandbox uses the address it listens on.
    domain: publicUrl === undefined ? `${host}:${port}` : new URL(publicUrl).host,
    ...{ recover, keccak256 },
    ...(chains.length > 0 ? { contractWallets: { chains: Object.fromEntries(chains) } } : {}),
    service: get(CONFIG).serviceName,
    nonces: get(BACKEND).nonces,
    clock: get(CLOCK),
    // Many clients can share one address. A full queue takes about a third of a second in pure JavaScript.
    recoveries: { waiting: 128, waitingPerClass: 32 },
  })
})
export const ISSUER: ServiceKey<Issuer> = defineService('issuer', get => {
  const config = get(CONFIG)
  return createIssuer({
    issuer: audience(config),
    audience: audience(config),
    environment: config.environment,
    peppers: get(SECRETS).keyPeppers,
    algorithm: config.signingAlgorithm,
    clock: get(CLOCK),
    ...get(BACKEND).issuer,
  })
})
export const GUARD: ServiceKey<Guard> = defineService('guard', get => {
  const config = get(CONFIG)
  const issuer = get(ISSUER)
  const backend = get(BACKEND)
  return createGuard({
    issuer: audience(config),
    audience: audience(config),
    clock: get(CLOCK),
    keys: issuer.verificationKey,
    policies: issuer.policies,
    revocation: {
      mode: 'feed',
      feed: backend.feed,
      // A key that was presented directly has just been read, and has no session row.
      isLive: async session => isKeySession(session) || issuer.isCurrent(session),
    },
    spend: backend.spend(backend.sql),
    ...guardLimits(config, backend),
  })
})
export const KEY_GUARD: ServiceKey<Guard> = defineService('key guard', get => {
  const config = get(CONFIG)
  const backend = get(BACKEND)
  // It reads no tokens and its keys have just been read, so there are no revocations to follow.
  return createGuard({
    ...{ issuer: audience(config), audience: audience(config), clock: get(CLOCK) },
    keys: get(ISSUER).verificationKey,
    policies: get(ISSUER).policies,
    spend: backend.spend(backend.sql),
    limits: keyUseLimits(config, backend),
    failedCredentials: 'off',
  })
})
export const LIMITS: ServiceKey<EntryLimits> = defineService('limits', get =>
  entryLimits(get(CONFIG), get(BACKEND)),
)
export const IDEMPOTENCY: ServiceKey<TransactionalIdempotency> = defineService('idempotency', get => {
  const { sql, idempotency } = get(BACKEND)
  return createTransactionalIdempotency({ db: sql, storage: idempotency, clock: get(CLOCK) })
})
