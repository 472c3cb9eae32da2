import { readFileSync } from 'node:fs'
import { context, propagation, SpanStatusCode } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { gate, type Handler, type OpenCall } from '@gatewright/http'
import { openTelemetryObserver } from '@gatewright/http/internal/otel'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { Fault, scopeCatalogue } from '@gatewright/kernel'
import t from 'tap'
import { bench } from '../scope-guard/issuer.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const SPAN_ID = 'b7ad6b7169203331'
const TRACEPARENT = `00-${TRACE_ID}-${SPAN_ID}-01`

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())

/** Serves payments, with an SDK that keeps spans and metrics in memory. */
async function setUp(handler: Handler<OpenCall> = () => ({ status: 201 })) {
  const spans = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  const { guard, bearer } = await bench()
  const api = gate({
    guard,
    scopes: scopeCatalogue(['payments.write']),
    idempotency: createIdempotency({ storage: memoryIdempotency() }),
    report: () => {},
    observe: openTelemetryObserver({ tracerProvider, meterProvider }),
  })
  const rule = { operation: 'payments.create', allOf: ['payments.write'] } as const
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const served = handle(api.idempotent(rule), handler as never)
  const authorization = await bearer({ scopes: ['payments.write'] })
  const pay = async (fields: Record<string, string> = {}): Promise<Response> => {
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'key-00000001' }
    const options = { method: 'POST', headers: { ...headers, ...fields }, body: '{"amountCents":1}' }
    return served(new Request('http://api.test/payments', options), undefined)
  }
  const histograms = async () => {
    await meterProvider.forceFlush()
    return exporter.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? []
  }
  return {
    pay,
    spans: () => spans.getFinishedSpans(),
    histograms,
    tracer: tracerProvider.getTracer('server'),
  }
}

const only = (spans: readonly ReadableSpan[]): ReadableSpan => {
  if (spans.length !== 1) throw new Error(`expected one span, got ${spans.length}`)
  return spans[0] as ReadableSpan
}

t.test('makes a span of a decision, which lasts as long as the request', async t => {
  const { pay, spans } = await setUp(async () => {
    await new Promise(setImmediate)
    return { status: 201 }
  })
  const began = performance.timeOrigin + performance.now()
  t.equal((await pay()).status, 201)
  const span = only(spans())
  t.match(span, { name: 'payments.create', status: { code: SpanStatusCode.UNSET } })
  t.match(span.attributes, {
    'gatewright.request.id': String,
    'gatewright.operation': 'payments.create',
    'gatewright.account.id': String,
    'gatewright.policy.revision': /^[\w-]{22}$/,
    'gatewright.run.outcome': 'stored',
    'gatewright.effect.id': String,
    'gatewright.replayed': false,
    'http.request.method': 'POST',
    'http.response.status_code': 201,
  })
  const page = readFileSync('docs/opentelemetry.md', 'utf8')
  for (const attribute of Object.keys(span.attributes)) t.match(page, `\`${attribute}\``)
  for (const absent of ['gatewright.code', 'gatewright.rule', 'gatewright.aliases', 'error.type'])
    t.notOk(absent in span.attributes, absent)
  const [seconds, nanoseconds] = span.startTime
  t.ok(seconds * 1000 + nanoseconds / 1e6 >= began - 1)
  const lasted = span.duration[0] * 1000 + span.duration[1] / 1e6
  t.ok(Math.abs(lasted - Number(span.attributes['gatewright.duration_ms'])) < 0.01)
})

t.test('gives runs and replays of one request the same effect', async t => {
  const { pay, spans } = await setUp()
  await pay()
  await pay()
  const [first, replay] = spans().map(({ attributes }) => attributes)
  t.match(replay, { 'gatewright.replayed': true, 'gatewright.effect.id': first?.['gatewright.effect.id'] })
})

t.test('continues the trace of an instrumented server, else that of the request', async t => {
  const { pay, spans, tracer } = await setUp()
  await tracer.startActiveSpan('POST /payments', async parent => {
    await pay({ traceparent: TRACEPARENT })
    t.equal(only(spans()).parentSpanContext?.spanId, parent.spanContext().spanId)
    parent.end()
  })
  const bare = await setUp()
  await bare.pay({ traceparent: TRACEPARENT })
  t.match(only(bare.spans()), {
    parentSpanContext: { traceId: TRACE_ID, spanId: SPAN_ID, isRemote: true },
  })
})

t.test('begins a trace for a request whose traceparent is missing or malformed', async t => {
  for (const traceparent of [
    undefined,
    'no',
    `ff-${TRACE_ID}-${SPAN_ID}-01`,
    `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
  ]) {
    const { pay, spans } = await setUp()
    t.equal((await pay(traceparent === undefined ? {} : { traceparent })).status, 201)
    const span = only(spans())
    t.equal(span.parentSpanContext, undefined)
    t.not(span.spanContext().traceId, TRACE_ID)
  }
})

t.test('marks failures as errors by their kind alone, and denials as nothing', async t => {
  const kinds = [
    [new Fault('ERR_STORE_UNAVAILABLE', 'secret'), 'ERR_STORE_UNAVAILABLE'],
    [new RangeError('secret'), 'RangeError'],
    // A handler may throw anything.
    ['secret' as unknown as Error, 'string'],
  ] as const
  for (const [error, type] of kinds) {
    const { pay, spans } = await setUp(() => {
      throw error
    })
    await pay()
    const span = only(spans())
    t.match(span, { status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': type } })
    t.notOk(JSON.stringify([span.status, span.attributes, span.events]).includes('secret'))
  }
  const { pay, spans } = await setUp()
  t.equal((await pay({ authorization: 'Bearer secret' })).status, 401)
  const denied = only(spans())
  t.match(denied, {
    status: { code: SpanStatusCode.UNSET },
    attributes: { 'gatewright.code': 'unauthorized' },
  })
  t.notOk(JSON.stringify(denied.attributes).includes('secret'))
})

t.test('measures requests by operation, status and code, in seconds', async t => {
  const { pay, histograms } = await setUp()
  await pay()
  await pay()
  await pay({ authorization: 'Bearer no' })
  const found = await histograms()
  t.same(
    found.map(({ descriptor: { name, unit } }) => [name, unit]),
    [
      ['gatewright.request.duration', 's'],
      ['gatewright.guard.duration', 's'],
      ['gatewright.handler.duration', 's'],
      ['gatewright.store.duration', 's'],
    ],
  )
  const points = found[0]?.dataPoints.map(({ attributes, value }) => [
    attributes,
    (value as { count: number }).count,
  ])
  t.same(points, [
    [{ 'gatewright.operation': 'payments.create', 'http.response.status_code': 201 }, 2],
    [
      {
        'gatewright.operation': 'payments.create',
        'http.response.status_code': 401,
        'gatewright.code': 'unauthorized',
      },
      1,
    ],
  ])
  const { sum } = found[0]?.dataPoints[0]?.value as { sum: number }
  t.ok(sum > 0 && sum < 60, 'seconds, not milliseconds')
})

t.test('does nothing without an SDK', async t => {
  const observe = openTelemetryObserver()
  const decisions: unknown[] = []
  const api = gate({
    scopes: scopeCatalogue(['payments.write']),
    observe: each => decisions.push(observe(each)),
  })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const served = handle(api.open('health'), () => ({ status: 200 }))
  t.equal((await served(new Request('http://api.test/'), undefined)).status, 200)
  t.equal(decisions.length, 1)
})
