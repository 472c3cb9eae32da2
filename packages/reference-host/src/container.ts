import { systemClock } from '@gatewright/kernel'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store'
import { createAliases } from '@gatewright/legacy-alias-router'
import { createGuard } from '@gatewright/scope-guard'
import { createIssuer } from '@gatewright/session-issuer'
import { createVerifier, keccakWithJsSha3, recoverWithViem } from '@gatewright/signature-verifier'
import { ContainerInstance } from 'typedi'
import type { Config } from './config/config.ts'
import { cardStore } from './modules/cards/store.ts'
import { partnerStore } from './modules/partners/store.ts'
import { createLedger } from './ledger/ledger.ts'
import { payinEndings } from './modules/subscriptions/endings.ts'
import { ownAddresses } from './modules/subscriptions/own-address.ts'
import { payinStore } from './modules/subscriptions/payin-store.ts'
import { subscriptionStore } from './modules/subscriptions/subscription-store.ts'
import { userStore } from './modules/users/store.ts'
import { createMetrics } from './observability/metrics.ts'
import { aliasTable } from './product/aliases.ts'
import { entryLimits, guardLimits, keyUseLimits } from './limits.ts'
import { isKeySession } from './server/key-session.ts'
import * as token from './tokens.ts'

/** The application's container: typed tokens over typedi. A token is bound once and made on its first `get`. */
export interface Container {
  get<T>(key: token.Key<T>): T
  /** Binds a token; the last binding before the first `get` of that token counts, so a test can swap one. */
  bind<T>(key: token.Key<T>, make: (get: Container['get']) => NoInfer<T>): void
}

/** An empty container of its own, outside typedi's global registry. */
function emptyContainer(): Container {
  const box = new ContainerInstance('host')
  const get = <T>(key: token.Key<T>): T => box.get(key)
  return {
    get,
    bind: (key, make) => {
      box.set({ id: key, factory: () => make(get) })
    },
  }
}

/** How tokens name their issuer and audience: the public address where one is set. */
function audience({ publicUrl, environment }: Config): string {
  return publicUrl ?? `urn:gatewright:${environment}`
}

/** Binds everything the host is made of. CONFIG, BACKEND and SECRETS are for the caller to bind. */
export function createContainer(): Container {
  const container = emptyContainer()
  const { bind } = container
  bind(token.CLOCK, () => systemClock)
  bind(token.ALIASES, () => createAliases(aliasTable))
  bind(token.METRICS, () => createMetrics())
  bind(token.USERS, get => userStore(get(token.BACKEND).sql))
  bind(token.PARTNERS, get => partnerStore(get(token.BACKEND).sql))
  bind(token.CARDS, get => cardStore(get(token.BACKEND).sql))
  bind(token.OWN_ADDRESSES, get => ownAddresses(get(token.CONFIG).payinReceivers, get(token.BACKEND).dialect))
  bind(token.PAYINS, get => payinStore(get(token.BACKEND).dialect))
  bind(token.SUBSCRIPTIONS, get => subscriptionStore(get(token.BACKEND).dialect))
  bind(token.LEDGER, get => createLedger(get(token.BACKEND).sql, get(token.BACKEND).dialect))
  bind(token.ENDINGS, get =>
    payinEndings({
      payins: get(token.PAYINS),
      subscriptions: get(token.SUBSCRIPTIONS),
      ledger: get(token.LEDGER),
      guard: get(token.GUARD),
      spendStorage: get(token.BACKEND).spend,
    }),
  )
  bind(token.RECOVERY, () => ({ recover: recoverWithViem, keccak256: keccakWithJsSha3 }))
  bind(token.CHAINS, () => ({}))
  bind(token.READERS, () => new Map())
  bind(token.VERIFIER, get => {
    const { publicUrl, host, port } = get(token.CONFIG)
    const chains = Object.entries(get(token.CHAINS)).map(([id, rpc]) => [id, { rpc }] as const)
    const { recover, keccak256 } = get(token.RECOVERY)
    return createVerifier({
      // What EIP-4361 and v2 statements must name. A sandbox is reached where it listens.
      domain: publicUrl === undefined ? `${host}:${port}` : new URL(publicUrl).host,
      ...{ recover, keccak256 },
      ...(chains.length > 0 ? { contractWallets: { chains: Object.fromEntries(chains) } } : {}),
      service: get(token.CONFIG).serviceName,
      nonces: get(token.BACKEND).nonces,
      clock: get(token.CLOCK),
      // Many clients can share one address; a full queue is about a third of a second of pure JS.
      recoveries: { waiting: 128, waitingPerClass: 32 },
    })
  })
  bind(token.ISSUER, get => {
    const config = get(token.CONFIG)
    return createIssuer({
      issuer: audience(config),
      audience: audience(config),
      environment: config.environment,
      peppers: get(token.SECRETS).keyPeppers,
      algorithm: config.signingAlgorithm,
      clock: get(token.CLOCK),
      ...get(token.BACKEND).issuer,
    })
  })
  bind(token.GUARD, get => {
    const config = get(token.CONFIG)
    const issuer = get(token.ISSUER)
    const backend = get(token.BACKEND)
    return createGuard({
      issuer: audience(config),
      audience: audience(config),
      clock: get(token.CLOCK),
      keys: issuer.verificationKey,
      policies: issuer.policies,
      revocation: {
        mode: 'feed',
        feed: backend.feed,
        // A key that was presented directly has just been looked up; there is no session row to ask for.
        isLive: async session => isKeySession(session) || issuer.isCurrent(session),
      },
      spend: backend.spend(backend.sql),
      ...guardLimits(config, backend),
    })
  })
  bind(token.KEY_GUARD, get => {
    const config = get(token.CONFIG)
    const backend = get(token.BACKEND)
    // It reads no tokens, and the keys that it judges have just been looked up: there is no revocation to follow.
    return createGuard({
      ...{ issuer: audience(config), audience: audience(config), clock: get(token.CLOCK) },
      keys: get(token.ISSUER).verificationKey,
      policies: get(token.ISSUER).policies,
      spend: backend.spend(backend.sql),
      limits: keyUseLimits(config, backend),
      failedCredentials: 'off',
    })
  })
  bind(token.LIMITS, get => entryLimits(get(token.CONFIG), get(token.BACKEND)))
  bind(token.IDEMPOTENCY, get => {
    const { sql, idempotency } = get(token.BACKEND)
    return createTransactionalIdempotency({ db: sql, storage: idempotency, clock: get(token.CLOCK) })
  })
  return container
}
