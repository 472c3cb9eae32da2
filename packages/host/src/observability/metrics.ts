import type { Decision } from '@gatewright/http'
import { collectDefaultMetrics, Registry } from 'prom-client'
import {
  registerDatabaseConnections,
  registerDatabaseRetries,
  registerDroppedRequests,
  registerFeedAge,
  registerMetrics,
} from './metric-definitions.ts'

/** Prometheus metrics of one host. Labels are operation ids, statuses and codes: bounded and not secret. */
export interface Metrics {
  /** Where a module registers metrics of its own. */
  readonly registry: Registry
  observe(decision: Decision): void
  /** Counts a call to a provider: `answered`, `unavailable` or `malformed`. */
  providerCall(port: string, outcome: string): void
  /** Counts the outcomes of a provider's reports, by event or by reply. */
  providerEvent(type: string, outcome: string): void
  /** Sets how many jobs wait, by kind, and how old the oldest of each kind is. Other kinds are set to 0. */
  waitingJobs(
    kinds: readonly { readonly kind: string; readonly jobs: number; readonly ageSeconds: number }[],
  ): void
  /** Records how long a check of a store took, and whether it failed. */
  storeCheck(store: string, seconds: number, ok: boolean): void
  /** Sets which dependencies work. */
  dependencies(states: Readonly<Record<string, 'ok' | 'down'>>): void
  /** Registers the gauge of the revocation feed's age, which `ageSeconds` returns. */
  feedAge(ageSeconds: () => number | undefined): void
  /** Registers the counter of retries on the database. `counts` holds the number of each reason, and changes. */
  databaseRetries(counts: Readonly<Record<string, number>>): void
  /** Registers the gauge of connections to the database, which `counts` returns by state. */
  databaseConnections(counts: () => Readonly<Record<string, number>>): void
  /** Counts a round of a background task that failed. */
  choreFailed(chore: string): void
  /** Sets how many writes have an unknown outcome. */
  lostRuns(count: number): void
  /** Registers the counter of requests that could not be kept, which `dropped` returns. */
  droppedRequests(dropped: () => number): void
  /** The exposition text with its media type. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>
}

/** Creates metrics in their own registry, so that several hosts can run in one process. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const metrics = registerMetrics(registry)
  return {
    registry,
    storeCheck(store, seconds, ok) {
      metrics.checks.observe({ store }, seconds)
      if (!ok) metrics.failedChecks.inc({ store })
    },
    dependencies(states) {
      metrics.dependencies.reset()
      for (const [dependency, state] of Object.entries(states))
        metrics.dependencies.set({ dependency }, state === 'ok' ? 1 : 0)
    },
    droppedRequests: dropped => void registerDroppedRequests(registry, dropped),
    feedAge: ageSeconds => void registerFeedAge(registry, ageSeconds),
    databaseRetries: counts => void registerDatabaseRetries(registry, counts),
    databaseConnections: counts => void registerDatabaseConnections(registry, counts),
    choreFailed: chore => metrics.failedChores.inc({ chore }),
    lostRuns: count => metrics.lostRuns.set(count),
    waitingJobs(kinds) {
      metrics.jobs.reset()
      metrics.oldest.reset()
      for (const { kind, jobs: count, ageSeconds } of kinds) {
        metrics.jobs.set({ kind }, count)
        metrics.oldest.set({ kind }, ageSeconds)
      }
    },
    providerCall: (port, outcome) => metrics.calls.inc({ port, outcome }),
    providerEvent: (type, outcome) => metrics.events.inc({ type, outcome }),
    observe({ operation = 'none', status, code = '', rule, replayed, durationMs, aliases: used }) {
      metrics.requests.inc({ operation, status: String(status), code })
      metrics.durations.observe({ operation }, durationMs / 1000)
      if (replayed) metrics.replays.inc({ operation })
      if (code === 'policy_blocked' && rule !== undefined) metrics.policyBlocks.inc({ rule })
      for (const alias of used) metrics.aliases.inc({ alias })
    },
    text: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  }
}
