import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { droppedLogLines } from './line-writer.ts'
import { STORE_CHECK_SECONDS } from './quantile.ts'

/** Registers the metrics of a host: their names, help texts, labels and buckets. */
export function registerMetrics(registry: Registry) {
  return {
    requests: new Counter({
      name: 'gatewright_requests_total',
      help: 'Requests by operation, status and error code',
      labelNames: ['operation', 'status', 'code'],
      registers: [registry],
    }),
    durations: new Histogram({
      name: 'gatewright_request_duration_seconds',
      help: 'Time from the request line to the end of the response',
      labelNames: ['operation'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    }),
    policyBlocks: new Counter({
      name: 'gatewright_policy_blocks_total',
      help: 'Requests that a policy blocked, by its rule, such as dailySpendCapCents',
      labelNames: ['rule'],
      registers: [registry],
    }),
    replays: new Counter({
      name: 'gatewright_replays_total',
      help: 'Responses that repeat that of an earlier request with the same idempotency key, by operation',
      labelNames: ['operation'],
      registers: [registry],
    }),
    lostRuns: new Gauge({
      name: 'gatewright_lost_runs',
      help: 'Writes whose outcome is unknown until an operator decides (npx gatewright lost-runs list), 100 at most',
      registers: [registry],
    }),
    failedChores: new Counter({
      name: 'gatewright_chores_failed_total',
      help: 'Rounds of background tasks of this process that failed, by task',
      labelNames: ['chore'],
      registers: [registry],
    }),
    aliases: new Counter({
      name: 'gatewright_legacy_names_total',
      help: 'Requests by the legacy name they used',
      labelNames: ['alias'],
      registers: [registry],
    }),
    calls: new Counter({
      name: 'gatewright_provider_calls_total',
      help: 'Calls to providers by port and outcome',
      labelNames: ['port', 'outcome'],
      registers: [registry],
    }),
    events: new Counter({
      name: 'gatewright_provider_events_total',
      help: 'Reports of providers by type and outcome: applied, ignored, repeated, conflict, unknown, unavailable',
      labelNames: ['type', 'outcome'],
      registers: [registry],
    }),
    droppedLines: new Counter({
      name: 'gatewright_log_lines_dropped_total',
      help: 'Log lines of this process that were dropped, because their reader was too slow or the disk full',
      registers: [registry],
      collect() {
        this.reset()
        this.inc(droppedLogLines())
      },
    }),
    jobs: new Gauge({
      name: 'gatewright_jobs',
      help: 'Calls to providers that are still to be made, by kind',
      labelNames: ['kind'],
      registers: [registry],
    }),
    oldest: new Gauge({
      name: 'gatewright_oldest_job_seconds',
      help: 'Age of the oldest call to a provider that is still to be made, by kind',
      labelNames: ['kind'],
      registers: [registry],
    }),
    dependencies: new Gauge({
      name: 'gatewright_dependency_ready',
      help: 'Whether each dependency that /readyz names works: 1, or 0 while it is down. history is 0 until a loss of writes is accepted',
      labelNames: ['dependency'],
      registers: [registry],
    }),
    checks: new Histogram({
      name: 'gatewright_store_check_seconds',
      help: 'Round trip of a readiness check to each store, every 5 seconds',
      labelNames: ['store'],
      buckets: [...STORE_CHECK_SECONDS],
      registers: [registry],
    }),
    failedChecks: new Counter({
      name: 'gatewright_store_checks_failed_total',
      help: 'Readiness checks that failed or took more than 2 seconds, by store',
      labelNames: ['store'],
      registers: [registry],
    }),
  }
}

/** Registers the gauge of the revocation feed's age, which calls `ageSeconds` whenever the metrics are read. */
export function registerFeedAge(registry: Registry, ageSeconds: () => number | undefined): Gauge {
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

/** Registers the counter of what the host ran again on Postgres. `counts` is read whenever the metrics are. */
export function registerDatabaseRetries(
  registry: Registry,
  counts: Readonly<Record<string, number>>,
): Counter {
  return new Counter({
    name: 'gatewright_database_retries_total',
    help: 'Statements and transactions that ran again after Postgres rolled them back because of simultaneous ones or changed tables, by reason',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, count] of Object.entries(counts)) this.inc({ reason }, count)
    },
  })
}

/** Registers the gauge of connections to Postgres, which calls `counts` whenever the metrics are read. */
export function registerDatabaseConnections(
  registry: Registry,
  counts: () => Readonly<Record<string, number>>,
): Gauge {
  return new Gauge({
    name: 'gatewright_database_connections',
    help: 'Connections of this process to Postgres by state: used, idle, and callers that are waiting for one',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(counts())) this.set({ state }, count)
    },
  })
}

/** Registers the counter of requests that could not be kept, which calls `dropped` whenever the metrics are read. */
export function registerDroppedRequests(registry: Registry, dropped: () => number): Counter {
  return new Counter({
    name: 'gatewright_requests_not_kept_total',
    help: 'Requests of this process that are missing from the list of requests, because more came than the database took',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(dropped())
    },
  })
}
