// The services of the operations of this host.
import { originOf } from '../config/origin.ts'
import type { Requirements } from '../http/requirements.ts'
import type { WebTokens } from '../http/web-session.ts'
import { createLedger, type Ledger } from '../ledger/ledger.ts'
import { createMoney, type Money } from '../ledger/money.ts'
import { agreementAcceptances, type AgreementAcceptances } from '../modules/agreements/acceptance.ts'
import { authorizations, type Authorizations } from '../modules/cards/authorizations/service.ts'
import { cardKeyPolicies, type CardKeyPolicies } from '../modules/cards/key-policies.ts'
import { accountCipher, type AccountCipher } from '../modules/crypto/account-cipher.ts'
import { accountKeys } from '../modules/crypto/account-keys.ts'
import { depositRecords, type DepositRecords } from '../modules/deposits/records.ts'
import { kycRecords, type KycRecords } from '../modules/kyc/records.ts'
import { onboardingRequirements } from '../modules/onboarding/requirements.ts'
import { partnerStore, type PartnerStore } from '../modules/partners/store.ts'
import { addressAllocator, type AddressAllocator } from '../modules/subscriptions/onchain/allocate-address.ts'
import { payinSettlement, type PayinSettlement } from '../modules/subscriptions/payins/settlement.ts'
import { userStore, type UserStore } from '../modules/users/store.ts'
import { createChallengeCodec, type ChallengeCodec } from '../modules/web-sign-in/challenge.ts'
import { webTokens } from '../modules/web-sign-in/web-token.ts'
import { withdrawalRecords, type WithdrawalRecords } from '../modules/withdrawals/records.ts'
import type { Providers } from '../providers/ports.ts'
import { jobQueue, type JobQueue } from '../records/jobs.ts'
import { defineService, type ServiceKey } from './container.ts'
import { jobHandlers } from './job-handlers.ts'
import { hostProviders } from './providers.ts'
import {
  BACKEND,
  CLOCK,
  CONFIG,
  GUARD,
  ISSUER,
  METRICS,
  REPORT,
  SEALER,
  SECRETS,
} from './core-registrations.ts'

export * from './core-registrations.ts'

export const CHALLENGES: ServiceKey<ChallengeCodec> = defineService('challenges', get =>
  createChallengeCodec({
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
export const KYC: ServiceKey<KycRecords> = defineService('identity checks', get => kycRecords(get(SEALER)))
export const JOBS: ServiceKey<JobQueue> = defineService('jobs', get =>
  jobQueue({
    db: get(BACKEND).sql,
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
export const CARD_KEY_POLICIES: ServiceKey<CardKeyPolicies> = defineService('card key policies', get =>
  cardKeyPolicies(get(BACKEND).sql, get(ISSUER)),
)
export const ADDRESS_ALLOCATOR: ServiceKey<AddressAllocator> = defineService('address allocator', get =>
  addressAllocator(get(CONFIG).payinReceivers),
)
export const LEDGER: ServiceKey<Ledger> = defineService('ledger', get => createLedger(get(BACKEND).sql))
export const AUTHORIZATIONS: ServiceKey<Authorizations> = defineService('authorizations', get =>
  authorizations({
    guard: get(GUARD),
    ledger: get(LEDGER),
    money: get(MONEY),
    spendStorage: get(BACKEND).spend,
    count: (outcome, reason) => get(METRICS).authorization(outcome, reason),
  }),
)
export const MONEY: ServiceKey<Money> = defineService('money', get => createMoney(get(LEDGER)))
export const DEPOSITS: ServiceKey<DepositRecords> = defineService('deposits', get =>
  depositRecords({
    money: get(MONEY),
    report: get(REPORT),
  }),
)
export const WITHDRAWALS: ServiceKey<WithdrawalRecords> = defineService('withdrawals', get =>
  withdrawalRecords({
    money: get(MONEY),
    guard: get(GUARD),
    spendStorage: get(BACKEND).spend,
  }),
)
export const SETTLEMENT: ServiceKey<PayinSettlement> = defineService('settlement', get =>
  payinSettlement({
    money: get(MONEY),
    guard: get(GUARD),
    spendStorage: get(BACKEND).spend,
  }),
)
