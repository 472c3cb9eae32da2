// What the operations of this product work with.
import { originOf } from '../config/origin.ts'
import type { Requirements } from '../http/requirements.ts'
import type { WebTokens } from '../http/web-session.ts'
import { createLedger, type Ledger } from '../ledger/ledger.ts'
import { createMoney, type Money } from '../ledger/money.ts'
import { transactionStore, type TransactionStore } from '../ledger/transactions.ts'
import { agreementAcceptances, type AgreementAcceptances } from '../modules/agreements/acceptance.ts'
import { incrementStore } from '../modules/cards/authorizations/increment-store.ts'
import { authorizations, type Authorizations } from '../modules/cards/authorizations/service.ts'
import { authorizationStore, type AuthorizationStore } from '../modules/cards/authorizations/store.ts'
import { cardKeyPolicies, type CardKeyPolicies } from '../modules/cards/key-policies.ts'
import { cardStore, type CardStore } from '../modules/cards/store.ts'
import { accountCipher, type AccountCipher } from '../modules/crypto/account-cipher.ts'
import { accountKeys } from '../modules/crypto/account-keys.ts'
import { depositRecords, type DepositRecords } from '../modules/deposits/records.ts'
import { kycRecords, type KycRecords } from '../modules/kyc/records.ts'
import { onboardingRequirements } from '../modules/onboarding/requirements.ts'
import { partnerStore, type PartnerStore } from '../modules/partners/store.ts'
import { addressAllocator, type AddressAllocator } from '../modules/subscriptions/onchain/allocate-address.ts'
import { payinStore, type PayinStore } from '../modules/subscriptions/payins/payin-store.ts'
import { payinSettlement, type PayinSettlement } from '../modules/subscriptions/payins/settlement.ts'
import { subscriptionStore, type SubscriptionStore } from '../modules/subscriptions/subscription-store.ts'
import { userStore, type UserStore } from '../modules/users/store.ts'
import { challenges, type Challenges } from '../modules/web-sign-in/challenge.ts'
import { webTokens } from '../modules/web-sign-in/web-token.ts'
import { withdrawalRecords, type WithdrawalRecords } from '../modules/withdrawals/records.ts'
import { jobQueue, type JobQueue } from '../records/jobs.ts'
import { defineService, type ServiceKey } from './container.ts'
import { jobHandlers } from './job-handlers.ts'
import { hostProviders, type Providers } from './providers.ts'
import {
  BACKEND,
  CLOCK,
  CONFIG,
  EVENTS,
  GUARD,
  ISSUER,
  METRICS,
  REPORT,
  SEALER,
  SECRETS,
} from './core-registrations.ts'

export * from './core-registrations.ts'

export const CHALLENGES: ServiceKey<Challenges> = defineService('challenges', get =>
  challenges({
    sealer: get(SEALER),
    serviceName: get(CONFIG).serviceName,
    origin: originOf(get(CONFIG)),
  }),
)
export const WEB_TOKENS: ServiceKey<WebTokens> = defineService('web tokens', get =>
  webTokens({
    sealer: get(SEALER),
    nonces: get(BACKEND).nonces,
    clock: get(CLOCK),
    origin: originOf(get(CONFIG)),
  }),
)
export const CIPHER: ServiceKey<AccountCipher> = defineService('cipher', get =>
  accountCipher(accountKeys(get(BACKEND).sql, get(SEALER), get(CLOCK))),
)
export const ACCEPTANCES: ServiceKey<AgreementAcceptances> = defineService('agreement acceptances', get =>
  agreementAcceptances(get(CONFIG).product.agreements),
)
export const REQUIREMENTS: ServiceKey<Requirements> = defineService('requirements', get =>
  onboardingRequirements(get(CONFIG).onboardingSurfaces, get(ACCEPTANCES)),
)
/** Providers that were given to this host. */
export const GIVEN_PROVIDERS: ServiceKey<Providers> = defineService('given providers', () => ({}))
export const PROVIDERS: ServiceKey<Providers> = defineService('providers', get =>
  hostProviders(get(GIVEN_PROVIDERS), {
    config: get(CONFIG),
    backend: get(BACKEND),
    clock: get(CLOCK),
    secrets: get(SECRETS),
    count: (port, outcome) => get(METRICS).providerCall(port, outcome),
  }),
)
export const KYC: ServiceKey<KycRecords> = defineService('identity checks', get =>
  kycRecords(get(BACKEND).dialect, get(SEALER), get(EVENTS)),
)
export const JOBS: ServiceKey<JobQueue> = defineService('jobs', get =>
  jobQueue({
    db: get(BACKEND).sql,
    dialect: get(BACKEND).dialect,
    clock: get(CLOCK),
    report: get(REPORT),
    handlers: jobHandlers(get(PROVIDERS), {
      db: get(BACKEND).sql,
      clock: get(CLOCK),
      report: get(REPORT),
      metrics: get(METRICS),
      kyc: get(KYC),
      deposits: get(DEPOSITS),
      withdrawals: get(WITHDRAWALS),
    }),
  }),
)
export const USERS: ServiceKey<UserStore> = defineService('users', get => userStore(get(BACKEND).sql))
export const PARTNERS: ServiceKey<PartnerStore> = defineService('partners', get =>
  partnerStore(get(BACKEND).sql),
)
export const CARDS: ServiceKey<CardStore> = defineService('cards', get =>
  cardStore(get(BACKEND).dialect, get(EVENTS)),
)
export const CARD_KEY_POLICIES: ServiceKey<CardKeyPolicies> = defineService('card key policies', get =>
  cardKeyPolicies(get(BACKEND).sql, get(ISSUER)),
)
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
export const AUTHORIZATION_STORE: ServiceKey<AuthorizationStore> = defineService('authorization store', get =>
  authorizationStore(get(BACKEND).dialect),
)
export const AUTHORIZATIONS: ServiceKey<Authorizations> = defineService('authorizations', get =>
  authorizations({
    store: get(AUTHORIZATION_STORE),
    cards: get(CARDS),
    guard: get(GUARD),
    incrementStore,
    ledger: get(LEDGER),
    money: get(MONEY),
    transactions: get(TRANSACTIONS),
    events: get(EVENTS),
    spendStorage: get(BACKEND).spend,
    count: (outcome, reason) => get(METRICS).authorization(outcome, reason),
  }),
)
export const MONEY: ServiceKey<Money> = defineService('money', get =>
  createMoney(get(LEDGER), get(TRANSACTIONS)),
)
export const DEPOSITS: ServiceKey<DepositRecords> = defineService('deposits', get =>
  depositRecords({
    dialect: get(BACKEND).dialect,
    money: get(MONEY),
    events: get(EVENTS),
    report: get(REPORT),
  }),
)
export const WITHDRAWALS: ServiceKey<WithdrawalRecords> = defineService('withdrawals', get =>
  withdrawalRecords({
    dialect: get(BACKEND).dialect,
    money: get(MONEY),
    events: get(EVENTS),
    guard: get(GUARD),
    spendStorage: get(BACKEND).spend,
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
