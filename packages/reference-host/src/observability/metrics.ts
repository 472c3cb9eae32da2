import type { Decision } from '@gatewright/http'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { STORE_CHECK_SECONDS } from './quantile.ts'

/** Prometheus metrics of one host. Labels are operation ids, statuses and codes: bounded and not secret. */
export interface Metrics {
  observe(decision: Decision): void
  /** Sets how many deposit addresses of a list are free. */
  freeAddresses(chainId: number, asset: string, free: number): void
  /** Sets the next index of an xpub. `xpub` is the id of its branch. */
  nextIndex(xpub: string, index: number): void
  /** Counts a transfer to one of the host's addresses that matches no pay-in. */
  unmatched(chainId: number, reason: string): void
  /** Counts a call to a provider: `answered`, `unavailable` or `malformed`. */
  providerCall(port: string, outcome: string): void
  /** Counts the outcomes of a provider's reports, by event or by reply. */
  providerEvent(type: string, outcome: string): void
  /** Sets how many jobs wait, by kind, and how old the oldest of each kind is. Kinds that are not given have none. */
  waitingJobs(
    kinds: readonly { readonly kind: string; readonly jobs: number; readonly ageSeconds: number }[],
  ): void
  /** Counts a decision about a payment by card: `authorized`, or `declined` with its reason. */
  authorization(outcome: string, reason: string): void
  /** Sets how many rows of a kind the operator must look at. */
  attention(kind: string, rows: number): void
  /** Records how long a check of a store took, and whether it failed. */
  storeCheck(store: string, seconds: number, ok: boolean): void
  /** From now on, the age of the revocation feed is what `ageSeconds` returns. */
  feedAge(ageSeconds: () => number | undefined): void
  /** The exposition text with its media type. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>
}

/** Creates metrics in their own registry, so that several hosts can run in one process. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'gatewright_requests_total',
    help: 'Requests by operation, status and error code',
    labelNames: ['operation', 'status', 'code'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'gatewright_request_duration_seconds',
    help: 'Time from the request line to the complete answer',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const aliases = new Counter({
    name: 'gatewright_legacy_names_total',
    help: 'Requests by the legacy name they used',
    labelNames: ['alias'],
    registers: [registry],
  })
  const free = new Gauge({
    name: 'gatewright_deposit_addresses_free',
    help: 'Deposit addresses of a list that are still free',
    labelNames: ['chain', 'asset'],
    registers: [registry],
  })
  const next = new Gauge({
    name: 'gatewright_deposit_next_index',
    help: 'Index of the next address of an xpub',
    labelNames: ['xpub'],
    registers: [registry],
  })
  const unmatched = new Counter({
    name: 'gatewright_unmatched_transfers_total',
    help: 'Transfers to addresses of the host that match no pay-in, found by this host',
    labelNames: ['chain', 'reason'],
    registers: [registry],
  })
  const calls = new Counter({
    name: 'gatewright_provider_calls_total',
    help: 'Calls to providers by port and outcome',
    labelNames: ['port', 'outcome'],
    registers: [registry],
  })
  const events = new Counter({
    name: 'gatewright_provider_events_total',
    help: 'Reports of providers by type and outcome: applied, ignored, repeated, conflict, unknown, unavailable',
    labelNames: ['type', 'outcome'],
    registers: [registry],
  })
  const jobs = new Gauge({
    name: 'gatewright_jobs',
    help: 'Calls to providers that are still to be made, by kind',
    labelNames: ['kind'],
    registers: [registry],
  })
  const oldest = new Gauge({
    name: 'gatewright_oldest_job_seconds',
    help: 'Age of the oldest call to a provider that is still to be made, by kind',
    labelNames: ['kind'],
    registers: [registry],
  })
  const decisions = new Counter({
    name: 'gatewright_authorizations_total',
    help: 'Decisions about payments by card, by outcome and reason of the decline',
    labelNames: ['outcome', 'reason'],
    registers: [registry],
  })
  const attention = new Gauge({
    name: 'gatewright_rows_with_attention',
    help: 'Rows that the operator must look at, by kind',
    labelNames: ['kind'],
    registers: [registry],
  })
  const checks = new Histogram({
    name: 'gatewright_store_check_seconds',
    help: 'Round trip of a readiness check to each store, every 5 seconds',
    labelNames: ['store'],
    buckets: [...STORE_CHECK_SECONDS],
    registers: [registry],
  })
  const failedChecks = new Counter({
    name: 'gatewright_store_checks_failed_total',
    help: 'Readiness checks that failed or took more than 2 seconds, by store',
    labelNames: ['store'],
    registers: [registry],
  })
  return {
    storeCheck(store, seconds, ok) {
      checks.observe({ store }, seconds)
      if (!ok) failedChecks.inc({ store })
    },
    feedAge: ageSeconds => void feedGauge(registry, ageSeconds),
    waitingJobs(kinds) {
      jobs.reset()
      oldest.reset()
      for (const { kind, jobs: count, ageSeconds } of kinds) {
        jobs.set({ kind }, count)
        oldest.set({ kind }, ageSeconds)
      }
    },
    authorization: (outcome, reason) => decisions.inc({ outcome, reason }),
    attention: (kind, count) => attention.set({ kind }, count),
    providerCall: (port, outcome) => calls.inc({ port, outcome }),
    providerEvent: (type, outcome) => events.inc({ type, outcome }),
    freeAddresses: (chainId, asset, count) => free.set({ chain: String(chainId), asset }, count),
    nextIndex: (xpub, index) => next.set({ xpub }, index),
    unmatched: (chainId, reason) => unmatched.inc({ chain: String(chainId), reason }),
    observe({ operation = 'none', status, code = '', durationMs, aliases: used }) {
      requests.inc({ operation, status: String(status), code })
      durations.observe({ operation }, durationMs / 1000)
      for (const alias of used) aliases.inc({ alias })
    },
    text: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  }
}

/** A gauge that asks for the age when the metrics are read. */
function feedGauge(registry: Registry, ageSeconds: () => number | undefined): Gauge {
  return new Gauge({
    name: 'gatewright_revocation_feed_age_seconds',
    help: 'Seconds since the start of the last complete read of the revocation feed by this host',
    registers: [registry],
    collect() {
      const age = ageSeconds()
      if (age !== undefined) this.set(age)
    },
  })
}
