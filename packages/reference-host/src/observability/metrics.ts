import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'
import type { Decision } from '../server/decision.ts'

/** Prometheus metrics of one host. Labels are operation ids, statuses and codes: bounded, and no secret. */
export interface Metrics {
  observe(decision: Decision): void
  /** The exposition text and its media type. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>
}

/** Makes metrics in a registry of their own, so that several hosts can live in one process. */
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
    help: 'Time from the request line to the decided answer',
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
  return {
    observe({ operation = 'none', status, code = '', durationMs, aliases: used }) {
      requests.inc({ operation, status: String(status), code })
      durations.observe({ operation }, durationMs / 1000)
      for (const alias of used) aliases.inc({ alias })
    },
    text: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  }
}
