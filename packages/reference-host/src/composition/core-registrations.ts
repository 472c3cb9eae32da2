// The services of every host, whatever operations it serves: configuration, stores, credentials, limits.
import {
  createTransactionalIdempotency,
  type TransactionalIdempotency,
} from '@gatewright/idempotency-store/transactional'
import { systemClock, type Clock } from '@gatewright/kernel'
import { createAliases, type Aliases } from '@gatewright/legacy-alias-router'
import { checkPolicyChain, createGuard, type Guard } from '@gatewright/scope-guard'
import { createIssuer, type Issuer } from '@gatewright/session-issuer'
import {
  createVerifier,
  keccakWithJsSha3,
  recoverWithJs,
  type FastestRecover,
  type RpcClient,
  type Verifier,
} from '@gatewright/signature-verifier'
import type { ChainReader } from '../chain/reader.ts'
import type { Config } from '../config/config.ts'
import { originOf } from '../config/origin.ts'
import { isKeyCurrent, isKeySession } from '../http/key-session.ts'
import { entryLimits, guardLimits, keyUseLimits, type EntryLimits } from '../http/limits.ts'
import { keepPoliciesOf } from '../modules/cards/key-policies.ts'
import { measuredFeed, type MeasuredFeed } from '../observability/feed-age.ts'
import { createHistory, type History } from '../observability/history.ts'
import { createMetrics, type Metrics } from '../observability/metrics.ts'
import { aliasTable } from '../product/aliases.ts'
import { createSealer, type Sealer } from '../records/sealed.ts'
import type { Backend } from '../storage/backend.ts'
import type { Secrets } from '../storage/secrets.ts'
import { requiredService, defineService, type ServiceKey } from './container.ts'

/** Returns the issuer and audience of tokens: the public URL if it is configured. */
function audience({ publicUrl, environment }: Config): string {
  return publicUrl ?? `urn:gatewright:${environment}`
}
/** Created and closed by the process, outside the container. */
export const CONFIG: ServiceKey<Config> = requiredService('config')
export const BACKEND: ServiceKey<Backend> = requiredService('backend')
export const SECRETS: ServiceKey<Secrets> = requiredService('secrets')
export const CLOCK: ServiceKey<Clock> = defineService('clock', () => systemClock)
export const SEALER: ServiceKey<Sealer> = defineService('sealer', get => createSealer(get(SECRETS).dataKeys))
/** Calls to providers, by the kind of their job. */
/** Providers that were given to this host. */
/** Receives failures of background work. */
export const REPORT: ServiceKey<(error: unknown) => void> = defineService('report', () => error => {
  process.emitWarning(error instanceof Error ? error : String(error))
})
/** The last 24 hours for the operator page; undefined without that page. */
export const HISTORY: ServiceKey<History | undefined> = defineService('history', get =>
  get(CONFIG).operator ? createHistory(get(CLOCK)) : undefined,
)
/** The revocation feed that the guard follows, with its age measured. */
export const FEED: ServiceKey<MeasuredFeed> = defineService('feed', get => measuredFeed(get(BACKEND).feed))
export const ALIASES: ServiceKey<Aliases> = defineService('aliases', () => createAliases(aliasTable))
export const METRICS: ServiceKey<Metrics> = defineService('metrics', () => createMetrics())
/** How signer addresses are recovered. Default: pure JavaScript. */
export const RECOVERY: ServiceKey<Pick<FastestRecover, 'recover' | 'keccak256'>> = defineService(
  'recovery',
  () => ({
    recover: recoverWithJs,
    keccak256: keccakWithJsSha3,
  }),
)
/** Chains on which contract wallets may sign, by chain id. */
export const CHAINS: ServiceKey<Readonly<Record<number, RpcClient>>> = defineService('chains', () => ({}))
/** Chains on which pay-ins are paid, by chain id. */
export const READERS: ServiceKey<ReadonlyMap<number, ChainReader>> = defineService('readers', () => new Map())
export const VERIFIER: ServiceKey<Verifier> = defineService('verifier', get => {
  const chains = Object.entries(get(CHAINS)).map(([id, rpc]) => [id, { rpc }] as const)
  const { recover, keccak256 } = get(RECOVERY)
  return createVerifier({
    // The domain that EIP-4361 and v2 statements must name. A sandbox uses the address it listens on.
    domain: new URL(originOf(get(CONFIG))).host,
    recover,
    keccak256,
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
    checkPolicyChain,
    beforeKeysAreDeleted: lineages => keepPoliciesOf(get(BACKEND).sql, lineages, get(REPORT)),
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
      feed: get(FEED).feed,
      // A key that was presented directly has no row of a session.
      isLive: session =>
        isKeySession(session)
          ? isKeyCurrent(backend.issuer.keys, session, get(CLOCK).now())
          : issuer.isCurrent(session),
    },
    spend: backend.spend(backend.sql),
    ...guardLimits(config, backend),
  })
})
export const KEY_GUARD: ServiceKey<Guard> = defineService('key guard', get => {
  const config = get(CONFIG)
  const backend = get(BACKEND)
  // It verifies no tokens, and its keys have just been read, so it needs no revocation check.
  return createGuard({
    issuer: audience(config),
    audience: audience(config),
    clock: get(CLOCK),
    keys: get(ISSUER).verificationKey,
    policies: get(ISSUER).policies,
    spend: backend.spend(backend.sql),
    limits: keyUseLimits(config, backend),
    // Keys are presented to mint sessions, far less often than sessions are used.
    policyCacheBytes: 2 ** 23,
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
