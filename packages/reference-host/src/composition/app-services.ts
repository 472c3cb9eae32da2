import type { Observe } from '@gatewright/http'
import { originOf } from '../config/origin.ts'
import { transactionLookups } from '../chain/transaction-lookups.ts'
import type { MountServices } from '../http/host-gate.ts'
import { providerMessages } from '../http/provider-messages.ts'
import { authorizationEvents } from '../modules/cards/authorizations/events.ts'
import { seedSandboxCards, type SeedCards } from '../modules/cards/sandbox-cards.ts'
import { depositReportEvent } from '../modules/deposits/job.ts'
import { kycReportEvent } from '../modules/kyc/event.ts'
import type { PartnerStore } from '../modules/partners/store.ts'
import type { ModuleServices } from '../modules/services.ts'
import type { ProviderEventServices } from '../modules/system/provider-events.ts'
import type { SystemServices } from '../modules/system/operations.ts'
import { providerTokens } from '../modules/tokens/provider-tokens.ts'
import { SANDBOX_PROVIDER } from '../providers/sandbox.ts'
import { withdrawalReportEvent } from '../modules/withdrawals/job.ts'
import type { Container } from './container.ts'
import { sandboxSecret } from './providers.ts'
import * as registrations from './registrations.ts'

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
  } = container.get(registrations.CONFIG)
  const { checks, spend, sql } = container.get(registrations.BACKEND)
  const metrics = container.get(registrations.METRICS)
  const history = container.get(registrations.HISTORY)
  return {
    clock: container.get(registrations.CLOCK),
    environment,
    aliases: container.get(registrations.ALIASES),
    verifier: container.get(registrations.VERIFIER),
    issuer: container.get(registrations.ISSUER),
    guard: container.get(registrations.GUARD),
    keyGuard: container.get(registrations.KEY_GUARD),
    limits: container.get(registrations.LIMITS),
    idempotency: container.get(registrations.IDEMPOTENCY),
    users: container.get(registrations.USERS),
    cardKeyPolicies: container.get(registrations.CARD_KEY_POLICIES),
    authorizations: container.get(registrations.AUTHORIZATIONS),
    seedCards: cardSeeds(container),
    addressAllocator: container.get(registrations.ADDRESS_ALLOCATOR),
    settlement: container.get(registrations.SETTLEMENT),
    ledger: container.get(registrations.LEDGER),
    money: container.get(registrations.MONEY),
    providerTokens: () => providerTokens(container.get(registrations.PROVIDERS)),
    deposits: container.get(registrations.DEPOSITS),
    withdrawals: container.get(registrations.WITHDRAWALS),
    sealer: container.get(registrations.SEALER),
    challenges: container.get(registrations.CHALLENGES),
    webTokens: container.get(registrations.WEB_TOKENS),
    origin: originOf(container.get(registrations.CONFIG)),
    cipher: container.get(registrations.CIPHER),
    jobs: container.get(registrations.JOBS),
    acceptances: container.get(registrations.ACCEPTANCES),
    requirements: container.get(registrations.REQUIREMENTS),
    kyc: container.get(registrations.KYC),
    providers: container.get(registrations.PROVIDERS),
    ...inboundServices(container),
    lookups: transactionLookups(container.get(registrations.READERS), container.get(registrations.CLOCK)),
    db: sql,
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
    validated: environment === 'live' ? isValidated(container.get(registrations.PARTNERS)) : async () => true,
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

/**
 * Returns the function that gives new partner users their sandbox cards. It does nothing unless the issuer is the built-in one:
 * another would issue real cards.
 */
function cardSeeds(container: Container): SeedCards {
  if (container.get(registrations.PROVIDERS).cards?.name !== SANDBOX_PROVIDER) return async () => {}
  return seedSandboxCards(sandboxSecret(container.get(registrations.SECRETS)))
}

/** Returns the services that handle messages of providers. */
function inboundServices(
  container: Container,
): Pick<MountServices, 'providerMessages'> & Pick<ProviderEventServices, 'eventTypes' | 'countEvent'> {
  const providers = container.get(registrations.PROVIDERS)
  const verifiers = Object.values(providers).flatMap(({ name, verify }) =>
    verify ? [[name, verify] as const] : [],
  )
  return {
    providerMessages: providerMessages({
      secrets: container.get(registrations.CONFIG).webhookSecrets,
      verifiers: new Map(verifiers),
      clock: container.get(registrations.CLOCK),
      failures: container.get(registrations.LIMITS).failedKeys,
    }),
    eventTypes: {
      'kyc.report': kycReportEvent(container.get(registrations.KYC), providers.kyc),
      ...authorizationEvents({
        db: container.get(registrations.BACKEND).sql,
        cardKeyPolicies: container.get(registrations.CARD_KEY_POLICIES),
        authorizations: container.get(registrations.AUTHORIZATIONS),
        report: container.get(registrations.REPORT),
      }),
      'deposit.report': depositReportEvent(container.get(registrations.DEPOSITS)),
      'withdrawal.report': withdrawalReportEvent(container.get(registrations.WITHDRAWALS)),
    },
    countEvent: (type, outcome) => container.get(registrations.METRICS).providerEvent(type, outcome),
  }
}
