import { scopeCatalogue } from '@gatewright/kernel'
import { gate } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

/** A response whose body breaks off. */
const broken = (): Response =>
  new Response(
    new ReadableStream({
      pull(controller) {
        controller.error(new Error('the source is gone'))
      },
    }),
    { status: 201 },
  )

/** A response whose body somebody reads already. */
function taken(): Response {
  const response = new Response('{}', { status: 201 })
  response.body?.getReader()
  return response
}

for (const [name, respond] of Object.entries({ broken, taken })) {
  t.test(`an existing handler with a ${name} body: the outcome is unknown at once`, async t => {
    const { guard, bearer } = await bench()
    const idempotency = createIdempotency({ storage: memoryIdempotency() })
    const failures: unknown[] = []
    const scopes = scopeCatalogue(['cards.write'])
    const api = gate({ guard, scopes, idempotency, report: ({ error }) => failures.push(error) })
    const route = api.idempotent({ operation: 'cards.create', allOf: ['cards.write'] })
    let runs = 0
    const serve = fetchGate(api, { body: 'clone', peer: 'none' }).wrap(route, async () => {
      runs++
      return respond()
    })
    const headers = {
      authorization: await bearer({ scopes: ['cards.write'] }),
      'idempotency-key': 'key-00000001',
      'content-type': 'application/json',
    }
    const send = async () =>
      serve(new Request('http://api.test/', { method: 'POST', headers, body: '{}' }), undefined)
    t.equal((await send()).status, 500)
    t.equal(failures.length, 1)
    const again = await send()
    t.equal(again.status, 503)
    t.match(await again.json(), { error: 'outcome_unknown' })
    t.equal(runs, 1)
    await idempotency.drained()
  })
}

const streamOf = (...chunks: unknown[]): Response => {
  const source = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  return new Response(source as ReadableStream<Uint8Array>, { status: 201 })
}

async function wrapping(respond: () => Response) {
  const { guard, bearer } = await bench()
  const idempotency = createIdempotency({ storage: memoryIdempotency() })
  const api = gate({ guard, scopes: scopeCatalogue(['cards.write']), idempotency, report: () => {} })
  const route = api.idempotent({ operation: 'cards.create', allOf: ['cards.write'] })
  const serve = fetchGate(api, { body: 'clone', peer: 'none' }).wrap(route, respond)
  const headers = {
    authorization: await bearer({ scopes: ['cards.write'] }),
    'idempotency-key': 'key-00000001',
    'content-type': 'application/json',
  }
  return async () => {
    const reply = await serve(new Request('http://api.test/', { method: 'POST', headers, body: '{}' }))
    return [reply.status, await reply.text(), reply.headers.get('idempotency-replayed')]
  }
}

t.test('a stream of texts is sent and replayed as what it says', async t => {
  const send = await wrapping(() => streamOf('{"id":', new TextEncoder().encode('"é'), 'ü"}'))
  t.same(await send(), [201, '{"id":"éü"}', null])
  t.same(await send(), [201, '{"id":"éü"}', 'true'])
})

t.test('a stream of anything else has an unknown outcome, and no half of it is stored', async t => {
  const send = await wrapping(() => streamOf(new TextEncoder().encode('{'), new ArrayBuffer(4)))
  t.match(await send(), [500])
  t.match(await send(), [503, /outcome_unknown/])
})

t.test('an event stream whose body has failed, or has another reader, is refused like any other', async t => {
  const headers = { 'content-type': 'text/event-stream' }
  const failed = new ReadableStream({ start: controller => controller.error(new Error('upstream is gone')) })
  const read = new Response('data: 1', { headers })
  read.body?.getReader()
  for (const response of [new Response(failed, { headers }), read]) {
    const send = await wrapping(() => response)
    t.match(await send(), [500])
    // An unhandled rejection fails this test in the next turn, and ends any other process.
    await new Promise(resolve => setImmediate(resolve))
  }
})
