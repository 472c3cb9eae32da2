import {
  context,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Histogram,
  type MeterProvider,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api'
import { Fault } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import type { Decision, Observe } from './response/decision.ts'

/** Where spans and metrics go. */
export interface TelemetryOptions {
  /** Default: the provider that is registered when a span begins. */
  readonly tracerProvider?: TracerProvider
  /** Default: the provider that is registered when `openTelemetryObserver` is called, so call it after the SDK has started. */
  readonly meterProvider?: MeterProvider
}

const NAME = 'gatewright'

/** The attributes of a span that are copied from its event, with the names of the members of `Decision`. */
const SPAN_ATTRIBUTES = [
  ['gatewright.request.id', 'requestId'],
  ['gatewright.operation', 'operation'],
  ['gatewright.credential', 'credential'],
  ['gatewright.account.id', 'accountId'],
  ['gatewright.key.id', 'keyId'],
  ['gatewright.session.id', 'sessionId'],
  ['gatewright.policy.revision', 'policyRevision'],
  ['gatewright.code', 'code'],
  ['gatewright.reason', 'reason'],
  ['gatewright.rule', 'rule'],
  ['gatewright.replayed', 'replayed'],
  ['gatewright.run.outcome', 'outcome'],
  ['gatewright.effect.id', 'effectId'],
  ['gatewright.duration_ms', 'durationMs'],
  ['gatewright.guard.duration_ms', 'guardMs'],
  ['gatewright.handler.duration_ms', 'handlerMs'],
  ['gatewright.store.duration_ms', 'storeMs'],
  ['http.request.method', 'method'],
  ['http.route', 'route'],
  ['http.response.status_code', 'status'],
] as const satisfies readonly (readonly [attribute: string, member: keyof Decision])[]

/** The metrics: one histogram each, in seconds. */
const HISTOGRAMS = [
  ['gatewright.request.duration', 'durationMs', 'From the arrival of a request at the gate to its response'],
  ['gatewright.guard.duration', 'guardMs', 'The credential and the limits of a request'],
  ['gatewright.handler.duration', 'handlerMs', 'The handler of a request'],
  ['gatewright.store.duration', 'storeMs', 'The idempotency record of a request'],
] as const

/** Buckets in seconds, as OpenTelemetry's conventions for HTTP advise. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/**
 * Makes the `observe` of a gate that reports each decision event to OpenTelemetry: a span and four histograms. A span is a child of the active
 * span, such as that of an instrumented HTTP server, else of the `traceparent` of the request, else the first of a new trace. Only a
 * failure (a fault or an unexpected error) makes the status of a span `ERROR`: a denial is an expected response. Metrics have the
 * attributes operation, status and code, never an id. Without an SDK it does nothing. Throws a `TypeError` for a wrong option.
 * Source: OpenTelemetry Trace and Metrics API 1.x, W3C Trace Context.
 */
export function openTelemetryObserver(options: TelemetryOptions = {}): Observe {
  const { tracerProvider, meterProvider } = checkOptions('openTelemetryObserver', options, {
    tracerProvider: { is: 'object', default: undefined },
    meterProvider: { is: 'object', default: undefined },
  })
  const tracer = (tracerProvider ?? trace).getTracer(NAME)
  const meter = (meterProvider ?? metrics).getMeter(NAME)
  const histograms = HISTOGRAMS.map(([name, member, description]) => ({
    member,
    histogram: meter.createHistogram(name, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries: BUCKETS },
    }),
  }))
  return decision => {
    recordSpan(tracer, decision)
    recordDurations(histograms, decision)
  }
}

function recordSpan(tracer: Tracer, decision: Decision): void {
  const { operation, durationMs, failure, aliases } = decision
  const endTime = performance.timeOrigin + performance.now()
  const span = tracer.startSpan(
    operation ?? 'gatewright request',
    { kind: SpanKind.INTERNAL, startTime: endTime - durationMs },
    parentOf(decision),
  )
  if (span.isRecording()) {
    for (const [attribute, member] of SPAN_ATTRIBUTES) {
      const value = decision[member]
      if (value !== undefined) span.setAttribute(attribute, value)
    }
    if (aliases.length > 0) span.setAttribute('gatewright.aliases', [...aliases])
    if (failure !== undefined) {
      span.setAttribute('error.type', typeOf(failure))
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
  }
  span.end(endTime)
}

function parentOf({ traceparent }: Decision): Context {
  const active = context.active()
  if (trace.getSpan(active) !== undefined || traceparent === undefined) return active
  return propagation.extract(ROOT_CONTEXT, { traceparent })
}

function recordDurations(
  histograms: readonly { readonly member: (typeof HISTOGRAMS)[number][1]; readonly histogram: Histogram }[],
  decision: Decision,
): void {
  const { operation = 'none', status, code } = decision
  const attributes: Attributes = {
    'gatewright.operation': operation,
    'http.response.status_code': status,
    ...(code === undefined ? {} : { 'gatewright.code': code }),
  }
  for (const { member, histogram } of histograms) histogram.record(decision[member] / 1000, attributes)
}

/** The kind of a failure, but never its message, which may have values of a request. */
function typeOf(failure: unknown): string {
  if (failure instanceof Fault) return failure.code
  return failure instanceof Error ? failure.name : typeof failure
}
