// One payment in a trace, as the OTLP exporter of OpenTelemetry sends it to a collector: the picture in docs/opentelemetry.md.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { context, propagation, SpanKind } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import express from 'express'
import { gatewright } from 'gatewright/express'
import { openTelemetryObserver } from 'gatewright/otel'
import t from 'tap'
import { createWorld, listening } from './world.ts'

const CLIENT = 'b7ad6b7169203331'
const TRACEPARENT = `00-0af7651916cd43dd8448eb211c80319c-${CLIENT}-01`

/** A span in the JSON of OTLP. */
interface ExportedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

/** Receives what an exporter sends to a collector. */
async function startCollector() {
  const spans: ExportedSpan[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { resourceSpans } = JSON.parse(Buffer.concat(parts).toString()) as {
      resourceSpans: { scopeSpans: { spans: ExportedSpan[] }[] }[]
    }
    spans.push(...resourceSpans.flatMap(each => each.scopeSpans.flatMap(scope => scope.spans)))
    response.setHeader('content-type', 'application/json').end('{}')
  })
  return { spans, ...(await listening(server.listen(0, '127.0.0.1'))) }
}

t.test('the picture of docs/opentelemetry.md shows what a collector receives for a payment', async t => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const collector = await startCollector()
  const exporter = new OTLPTraceExporter({ url: `${collector.url}/v1/traces` })
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const server = provider.getTracer('server')

  const { options, processor, token } = createWorld()
  const observe = openTelemetryObserver({ tracerProvider: provider })
  const gw = gatewright({ ...options, gate: { observe } })
  const create = gw.protectWrite('payments.create', { scope: 'payments.write' })
  const app = express()
  // What the instrumentation of a server does.
  app.use((request, response, next) => {
    const from = propagation.extract(context.active(), request.headers)
    server.startActiveSpan(`${request.method} ${request.path}`, { kind: SpanKind.SERVER }, from, span => {
      response.once('close', () => span.end())
      next()
    })
  })
  app.post('/payments', create, async (request, response) => {
    await processor.pay(request.body.amountCents, create.accepted(request).effectId)
    response.status(201).json({ paid: request.body.amountCents })
  })
  const team = await listening(app.listen(0, '127.0.0.1'))
  const headers = {
    authorization: `Bearer ${await token('payments.write')}`,
    'content-type': 'application/json',
    'idempotency-key': 'payment-0001',
    traceparent: TRACEPARENT,
  }
  for (let n = 0; n < 2; n += 1) {
    const response = await fetch(`${team.url}/payments`, {
      method: 'POST',
      headers,
      body: '{"amountCents":1}',
    })
    t.equal(response.status, 201)
    await response.text()
  }
  await team.close()
  await provider.shutdown()
  await collector.close()

  t.same(new Set(collector.spans.map(({ traceId }) => traceId)), new Set([TRACEPARENT.split('-')[1]]))
  const page = readFileSync('docs/opentelemetry.md', 'utf8')
  const [, picture = ''] = /```text\n(client[^]*?)```/.exec(page) ?? []
  t.equal(withoutIds(picture), withoutIds(render(collector.spans)), render(collector.spans))
})

/** Draws the spans below that of the client. */
function render(spans: readonly ExportedSpan[]): string {
  const lines = [`client                ${CLIENT}`]
  const servers = spans.filter(({ parentSpanId }) => parentSpanId === CLIENT)
  for (const [index, { name, spanId }] of servers.entries()) {
    const [branch, line] = index === servers.length - 1 ? ['└─', '   '] : ['├─', '│  ']
    lines.push(
      `${branch} ${name.padEnd(19)}${spanId}   ${index === 0 ? 'the span of the server' : 'the repeat'}`,
    )
    for (const below of spans.filter(({ parentSpanId }) => parentSpanId === spanId)) {
      const [first = '', ...more] = facts(below)
      lines.push(`${line}└─ ${below.name.padEnd(16)}${below.spanId}   ${first}`)
      lines.push(...more.map(each => `${line}${' '.repeat(38)}${each}`))
    }
  }
  return `${lines.join('\n')}\n`
}

function facts({ attributes }: ExportedSpan): string[] {
  const of = (name: string): string | undefined => {
    const value = attributes.find(({ key }) => key === name)?.value
    return value && String(Object.values(value)[0])
  }
  const outcome = of('gatewright.run.outcome')
  return [
    `${of('http.response.status_code')}, replayed: ${of('gatewright.replayed')}${
      outcome === undefined ? '' : `, run.outcome: ${outcome}`
    }`,
    `effect.id: ${of('gatewright.effect.id')}`,
    `policy.revision: ${of('gatewright.policy.revision')}`,
  ]
}

/** Replaces each random id by its number, so that equal ids stay equal. */
function withoutIds(picture: string): string {
  const known = new Map<string, string>()
  return picture.replaceAll(/\b[0-9a-f]{16}\b|(?<=: )[\w-]{22,}/g, id => {
    if (!known.has(id)) known.set(id, `#${known.size}`)
    return known.get(id) as string
  })
}
