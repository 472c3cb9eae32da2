import type { Observe } from '@gatewright/http'
import { originOf } from '../config/origin.ts'
import { transactionLookups } from '../chain/transaction-lookups.ts'
import type { MountServices } from '../http/host-gate.ts'
import { providerMessages } from '../http/provider-messages.ts'
import { authorizationEvents } from '../modules/cards/authorizations/events.ts'
import { incrementStore } from '../modules/cards/authorizations/increment-store.ts'
import { seedSandboxCards, type SeedCards } from '../modules/cards/sandbox-cards.ts'
import { depositReportEvent } from '../modules/deposits/job.ts'
import { kycReportEvent } from '../modules/kyc/event.ts'
import type { PartnerStore } from '../modules/partners/store.ts'
import type { ModuleServices } from '../modules/services.ts'
import type { ProviderEventServices } from '../modules/system/provider-events.ts'
import type { SystemServices } from '../modules/system/operations.ts'
import { providerTokens } from '../modules/tokens/provider-tokens.ts'
import { SANDBOX_PROVIDER } from '../providers/sandbox-kyc.ts'
import { withdrawalReportEvent } from '../modules/withdrawals/job.ts'
import type { Container } from './container.ts'
import { cardSecret } from './providers.ts'
import * as token from './registrations.ts'

/** Resolves every service once and returns them as plain values. No other layer uses the container. */
export function appServices(
  container: Container,
  observe: Observe,
  draining: () => boolean,
): MountServices & ModuleServices & Omit<SystemServices, 'description'> & ProviderEventServices {
  const {
    serviceName,
    directUserKey,
    requireHttps,
    trustProxy,
    environment,
    plans,
    payinReceivers,
    product,
  } = container.get(token.CONFIG)
  const { checks, dialect, spend, sql } = container.get(token.BACKEND)
  const metrics = container.get(token.METRICS)
  const history = container.get(token.HISTORY)
  return {
    clock: container.get(token.CLOCK),
    environment,
    aliases: container.get(token.ALIASES),
    verifier: container.get(token.VERIFIER),
    issuer: container.get(token.ISSUER),
    guard: container.get(token.GUARD),
    keyGuard: container.get(token.KEY_GUARD),
    limits: container.get(token.LIMITS),
    idempotency: container.get(token.IDEMPOTENCY),
    users: container.get(token.USERS),
    cards: container.get(token.CARDS),
    cardKeyPolicies: container.get(token.CARD_KEY_POLICIES),
    authorizations: container.get(token.AUTHORIZATIONS),
    authorizationStore: container.get(token.AUTHORIZATION_STORE),
    seedCards: cardSeeds(container),
    payins: container.get(token.PAYINS),
    addressAllocator: container.get(token.ADDRESS_ALLOCATOR),
    subscriptions: container.get(token.SUBSCRIPTIONS),
    settlement: container.get(token.SETTLEMENT),
    ledger: container.get(token.LEDGER),
    money: container.get(token.MONEY),
    transactions: container.get(token.TRANSACTIONS),
    providerTokens: () => providerTokens(container.get(token.PROVIDERS)),
    deposits: container.get(token.DEPOSITS),
    withdrawals: container.get(token.WITHDRAWALS),
    sealer: container.get(token.SEALER),
    challenges: container.get(token.CHALLENGES),
    webTokens: container.get(token.WEB_TOKENS),
    origin: originOf(container.get(token.CONFIG)),
    cipher: container.get(token.CIPHER),
    events: container.get(token.EVENTS),
    jobs: container.get(token.JOBS),
    acceptances: container.get(token.ACCEPTANCES),
    requirements: container.get(token.REQUIREMENTS),
    kyc: container.get(token.KYC),
    providers: container.get(token.PROVIDERS),
    ...inboundServices(container),
    lookups: transactionLookups(container.get(token.READERS), container.get(token.CLOCK)),
    db: sql,
    dialect,
    product,
    plans,
    receivers: payinReceivers,
    spendStorage: spend,
    checks,
    draining,
    metrics,
    serviceName,
    directUserKey,
    requireHttps,
    trustProxy,
    validated: environment === 'live' ? isValidated(container.get(token.PARTNERS)) : async () => true,
    observe(decision) {
      metrics.observe(decision)
      history?.observe(decision)
      observe(decision)
    },
  }
}

/** Whether the operator has validated a partner key, which a live host requires. */
function isValidated(partners: PartnerStore): (keyId: string) => Promise<boolean> {
  return async keyId => (await partners.validatedKeys([keyId])).has(keyId)
}

/** What gives new partner users their cards. Only the built-in issuer can: another one would issue real cards. */
function cardSeeds(container: Container): SeedCards {
  if (container.get(token.PROVIDERS).cards?.name !== SANDBOX_PROVIDER) return async () => {}
  return seedSandboxCards(container.get(token.CARDS), cardSecret(container.get(token.SECRETS)))
}

/** What takes messages of providers. */
function inboundServices(
  container: Container,
): Pick<MountServices, 'providerMessages'> & Pick<ProviderEventServices, 'eventTypes' | 'countEvent'> {
  const providers = container.get(token.PROVIDERS)
  const verifiers = Object.values(providers).flatMap(({ name, verify }) =>
    verify ? [[name, verify] as const] : [],
  )
  return {
    providerMessages: providerMessages({
      secrets: container.get(token.CONFIG).webhookSecrets,
      verifiers: new Map(verifiers),
      clock: container.get(token.CLOCK),
      failures: container.get(token.LIMITS).failedKeys,
    }),
    eventTypes: {
      'kyc.report': kycReportEvent(container.get(token.KYC), providers.kyc),
      ...authorizationEvents({
        db: container.get(token.BACKEND).sql,
        cardKeyPolicies: container.get(token.CARD_KEY_POLICIES),
        cards: container.get(token.CARDS),
        store: container.get(token.AUTHORIZATION_STORE),
        incrementStore,
        events: container.get(token.EVENTS),
        authorizations: container.get(token.AUTHORIZATIONS),
        report: container.get(token.REPORT),
      }),
      'deposit.report': depositReportEvent(container.get(token.DEPOSITS)),
      'withdrawal.report': withdrawalReportEvent(container.get(token.WITHDRAWALS)),
    },
    countEvent: (type, outcome) => container.get(token.METRICS).providerEvent(type, outcome),
  }
}
