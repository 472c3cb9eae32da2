import { acceptedFrom } from '../storage/restores.ts'
import type { Documentation } from '../openapi/document.ts'
import type { Observe } from '@gatewright/http'
import {
  createTransactionalIdempotency,
  type TransactionalIdempotency,
} from '@gatewright/idempotency-store/transactional'
import { createLostRuns, type LostRuns } from '@gatewright/idempotency-store'
import { allow, type Clock, type ScopeCatalogue, type EpochMs } from '@gatewright/kernel'
import { systemClock } from '@gatewright/kernel/internal'
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import {
  createAliases,
  createUsageLog,
  type AliasTable,
  type Aliases,
  type UsageLog,
} from '@gatewright/legacy-alias-router'
import {
  checkPolicyChain,
  createGuard,
  endRunHolds,
  type Guard,
  type ApprovalStorage,
  type SpendStorage,
} from '@gatewright/scope-guard'
import { createIssuer, type Issuer } from '@gatewright/session-issuer'
import type { EndedLineage } from '@gatewright/session-issuer/internal'
import type { HostConfig } from '../config/host-config.ts'
import { originOf } from '../config/origin.ts'
import { deny } from '../http/codes.ts'
import { isKeyCurrent, isKeySession } from '../http/credentials/key-session.ts'
import { entryLimits, guardLimits, keyUseLimits, type EntryLimits } from '../http/credentials/limits.ts'
import type { EventType } from '../http/provider-events/provider-event-types.ts'
import {
  providerMessages,
  type MessageVerifier,
  type ReceiveProviderMessage,
} from '../http/credentials/provider-messages.ts'
import type { OperationRules } from '../http/operations/operation.ts'
import type { Requirements } from '../http/operations/requirements.ts'
import type { WebTokens } from '../http/credentials/web-session.ts'
import { createLedger, type Ledger } from '../ledger/ledger.ts'
import { createMoney, type Money } from '../ledger/money.ts'
import { measuredFeed, type MeasuredFeed } from '../observability/feed-age.ts'
import { createHistory, type History } from '../observability/history.ts'
import { createMetrics, type Metrics } from '../observability/metrics.ts'
import { alertRecorder, spendsIn } from '../records/alerts.ts'
import { approvalsWithEvents } from '../records/approvals.ts'
import { isAnyKeyHeld, isKeyHeld } from '../records/held-keys.ts'
import { jobQueue, type JobHandler, type JobQueue } from '../records/jobs.ts'
import { createRequestLog, type RequestLog } from '../records/request-log.ts'
import { createSealer, type Sealer } from '../records/sealed.ts'
import type { Backend } from '../storage/backend.ts'
import { createReadiness, type Readiness } from '../storage/readiness.ts'
import type { Secrets } from '../storage/secrets.ts'
import { shareResult } from '../storage/share-result.ts'
import type { ServicesOf } from './make-services.ts'
import { mergeByName, type Module } from './module.ts'

/** What a product gives beside its own services. */
export interface HostInputs {
  readonly config: HostConfig
  readonly backend: Backend
  readonly secrets: Secrets
  readonly modules: readonly Module<never>[]
  /** Takes one decision event per request. */
  readonly observe: Observe
  /** Takes failures of work beside requests. */
  readonly report: (error: unknown) => void
  /** Tells an operator how far long work is. */
  readonly progress: (text: string) => void
  /** Whether the host is stopping. It then reports "not ready". */
  readonly draining: () => boolean
  /** The names of all scopes that operations and presets may name. */
  readonly scopes: ScopeCatalogue<string>
  /** The old names that the host accepts. */
  readonly aliasTable: AliasTable
  readonly documentation: Documentation
}

/** What happens to a key before the issuer deletes it, 7 days after its end. */
export interface EndedKeys {
  /** Keeps what others need of all ended keys. Called before each round that deletes keys, which a rejection skips. */
  keep(signal: AbortSignal): Promise<void>
  /** The same for keys that are about to be deleted. A rejection keeps them. */
  keepOf(lineages: readonly EndedLineage[]): Promise<void>
}

/** The services that every host works with, whatever it serves. A product may replace each by one of its own. */
export type HostServices = HostInputs & ServicesOf<HostFactories>

/** Issuer and audience of tokens: the public URL where one is configured. */
function audience({ publicUrl, environment }: HostConfig): string {
  return publicUrl ?? `urn:gatewright:${environment}`
}

/** For how long the answer that no key is held is shared between keys that come with every request. */
const SHARED_HOLDS_MS = 1000

/** The requirements of a host without any. `operationTable` rejects an operation that needs some. */
export const NO_REQUIREMENTS: Requirements = {
  check: async () => allow(undefined),
  checkLock: async () => allow(undefined),
}

/** How the services of every host are made: each method makes one, from those that it names. */
export class HostFactories {
  clock(): Clock {
    return systemClock
  }

  db({ backend }: HostServices): SqlClient {
    return backend.sql
  }

  environment({ config }: HostServices): HostConfig['environment'] {
    return config.environment
  }

  /** The host's own origin, such as `https://pay.example`. */
  origin({ config }: HostServices): string {
    return originOf(config)
  }

  sealer({ secrets }: HostServices): Sealer {
    return createSealer(secrets.dataKeys)
  }

  /** The last 24 hours for the operator page; undefined without that page. */
  history({ config, clock }: HostServices): History | undefined {
    return config.operator ? createHistory(clock) : undefined
  }

  /** The revocation feed as the guard follows it. */
  feed({ backend }: HostServices): MeasuredFeed {
    return measuredFeed(backend.feed)
  }

  aliases({ aliasTable }: HostServices): Aliases {
    return createAliases(aliasTable)
  }

  aliasUsage({ backend, clock, report }: HostServices): UsageLog {
    return createUsageLog({ storage: backend.aliasUsage, clock, onFailure: report })
  }

  /** The time from which statements that wallets have signed are accepted: after a restore, that of the restore. */
  issuedFrom({ db }: HostServices): () => Promise<EpochMs> {
    return () => acceptedFrom(db)
  }

  /** What sessions need for each operation. Filled when the operations are mounted. */
  operationRules(): OperationRules {
    return new Map()
  }

  /** The titles of the operations, by id. Filled when the operations are mounted. */
  operationTitles(): Map<string, string> {
    return new Map()
  }

  /** The decisions about requests that people can look up. */
  requestLog({ config, backend, db, clock }: HostServices): RequestLog {
    const isConsole = async (keyId: string): Promise<boolean> =>
      (await backend.issuer.keys.find(keyId))?.console === true
    return createRequestLog({ db, clock, mode: config.requestLog.mode, isConsole })
  }

  /** Whether a write would succeed now. */
  readiness({ backend, clock, report }: HostServices): Readiness {
    return createReadiness({ backend, clock, report })
  }

  metrics(): Metrics {
    return createMetrics()
  }

  endedKeys(_services: HostServices): EndedKeys {
    return { keep: async () => {}, keepOf: async () => {} }
  }

  issuer({ config, backend, secrets, endedKeys, clock }: HostServices): Issuer {
    return createIssuer({
      issuer: audience(config),
      audience: audience(config),
      environment: config.environment,
      peppers: secrets.keyPeppers,
      algorithm: config.signingAlgorithm,
      checkPolicyChain,
      beforeKeysAreDeleted: lineages => endedKeys.keepOf(lineages),
      clock,
      ...backend.issuer,
    })
  }

  guard({ config, backend, issuer, clock, feed, approvals }: HostServices): Guard {
    return createGuard({
      issuer: audience(config),
      audience: audience(config),
      clock,
      keys: issuer.verificationKey,
      policies: issuer.policies,
      revocation: {
        mode: 'feed',
        feed: feed.feed,
        // A key that was presented directly has no session row.
        isLive: session =>
          isKeySession(session)
            ? isKeyCurrent(backend.issuer.keys, session, clock.now())
            : issuer.isCurrent(session),
      },
      spend: spendsIn(backend.sql, backend.spend),
      onAlert: alertRecorder(clock),
      approvals: { store: approvals, url: () => `${originOf(config)}/helper#/approvals` },
      ...guardLimits(config, backend),
    })
  }

  /** Authorises uses of an API key that need no session. */
  keyGuard({ config, backend, issuer, clock }: HostServices): Guard {
    // It reads no tokens and its keys have just been read, so there are no revocations to follow.
    return createGuard({
      issuer: audience(config),
      audience: audience(config),
      clock,
      keys: issuer.verificationKey,
      policies: issuer.policies,
      spend: spendsIn(backend.sql, backend.spend),
      onAlert: alertRecorder(clock),
      limits: keyUseLimits(config, backend),
      // Keys are presented to mint sessions, far less often than sessions are used.
      policyCacheBytes: 2 ** 23,
      failedCredentials: 'off',
    })
  }

  limits({ config, backend, clock }: HostServices): EntryLimits {
    return entryLimits(config, backend, clock)
  }

  /** Approvals of payments, with their events. */
  approvals({ backend }: HostServices): ApprovalStorage {
    return approvalsWithEvents({ db: backend.sql, inTransaction: backend.approvals })
  }

  /** Approvals inside the transaction of a write. */
  approvalStorage({ backend }: HostServices): (tx: SqlQueries) => ApprovalStorage {
    return backend.approvals
  }

  /** Spend counters inside the transaction of a write. */
  spendStorage({ backend }: HostServices): (tx: SqlQueries) => SpendStorage {
    return tx => spendsIn(tx, backend.spend)
  }

  idempotency({ backend, clock }: HostServices): TransactionalIdempotency {
    const { sql: db, idempotency: storage } = backend
    return createTransactionalIdempotency({
      db,
      storage,
      clock,
      // Two, so that one begins while the other commits. SQLite runs one transaction at a time anyway.
      ...(db.dialect === 'postgres' ? { maxTransactionsPerAccount: 2 } : {}),
    })
  }

  /** Writes with an idempotency key whose outcome is unknown. */
  lostRuns({ backend, clock }: HostServices): LostRuns {
    const spend = backend.spend(backend.sql)
    return createLostRuns({
      storage: backend.idempotency(backend.sql),
      clock,
      endHolds: (run, outcome) => endRunHolds(spend, run, outcome),
    })
  }

  ledger({ db }: HostServices): Ledger {
    return createLedger(db)
  }

  money({ ledger }: HostServices): Money {
    return createMoney(ledger)
  }

  /** What accounts must have completed before writes that require it. Default: nothing. */
  requirements(_services: HostServices): Requirements {
    return NO_REQUIREMENTS
  }

  /** Tokens of wallets that signed in on the web. Default: no text is one. */
  webTokens(_services: HostServices): Pick<WebTokens, 'authenticate'> {
    return {
      authenticate: () => deny('unauthorized', 'this host has no web tokens'),
    }
  }

  /** Whether a key is held since a restore. With `cacheMs` of a second it reads no row of its own while no key at all is held. */
  isHeld({ db, clock }: HostServices): (keyId: string, cacheMs: number) => Promise<boolean> {
    const isAnyHeld = shareResult(() => isAnyKeyHeld(db), clock, SHARED_HOLDS_MS)
    return async (keyId, cacheMs) => {
      const mayBeHeld = cacheMs < SHARED_HOLDS_MS || (await isAnyHeld())
      return mayBeHeld && isKeyHeld(db, keyId)
    }
  }

  /** Whether a key, or one above it, is paused. */
  isPaused({ backend }: HostServices): (keyId: string) => Promise<boolean> {
    return async keyId => ((await backend.issuer.keys.find(keyId))?.pauses.length ?? 0) > 0
  }

  /** Whether the operator has validated a partner key. Default: every key is. */
  validated(_services: HostServices): (keyId: string) => Promise<boolean> {
    return async () => true
  }

  /** Providers that prove their messages in their own way, by name. */
  messageVerifiers(_services: HostServices): ReadonlyMap<string, MessageVerifier> {
    return new Map()
  }

  providerMessages({ config, messageVerifiers, clock, limits }: HostServices): ReceiveProviderMessage {
    return providerMessages({
      secrets: config.webhookSecrets,
      verifiers: messageVerifiers,
      clock,
      failures: limits.failedKeys,
    })
  }

  jobHandlers(services: HostServices): Readonly<Record<string, JobHandler>> {
    return mergeByName(
      'job',
      modulesOf(services).map(({ jobs }) => jobs?.(services) ?? {}),
    )
  }

  eventTypes(services: HostServices): Readonly<Record<string, EventType>> {
    return mergeByName(
      'event type',
      modulesOf(services).map(({ providerEvents }) => providerEvents?.(services) ?? {}),
    )
  }

  jobs({ db, clock, report, jobHandlers }: HostServices): JobQueue {
    return jobQueue({ db, clock, report, handlers: jobHandlers })
  }
}

/** The modules of a host. They take the services that the product has made them for. */
export function modulesOf({ modules }: Pick<HostInputs, 'modules'>): readonly Module<HostServices>[] {
  return modules as readonly Module<unknown>[]
}
