import { setImmediate } from 'node:timers/promises'
import { scopeCatalogue } from '@gatewright/kernel'
import { gate, type Decision, type HandlerResponse } from '@gatewright/http'
import type { Outcome } from '@gatewright/http/internal'
import type { Failure } from '#packages/http/dist/options.js'
import { expressGate } from '@gatewright/http/express'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import Koa from 'koa'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'
import { listen } from '../../harness/listen.ts'

const scopes = scopeCatalogue(['cards.write'])
const rule = { operation: 'cards.create', allOf: ['cards.write'] } as const
const circular: Record<string, unknown> = {}
circular['self'] = circular

/** What handlers must not return: no server could send it. */
const UNSENDABLE: Record<string, HandlerResponse> = {
  'a big integer in the body': { status: 200, body: { amount: 10n } },
  'a body that holds itself': { status: 200, body: circular },
  'a function as the body': { status: 200, body: () => 'x' },
  'a body whose toJSON returns nothing': { status: 200, body: { toJSON: () => undefined } },
  'a line break in a header': { status: 201, headers: [['Location', '/x\r\nSet-Cookie: a=b']] },
  'a letter outside of Latin 1 in a header': { status: 201, headers: [['Location', '/\u4f60']] },
  'a header name with a space': { status: 201, headers: [['Bad Name', 'x']] },
  'a status above 599': { status: 1000 },
  'a status below 200': { status: 101 },
  'a body of a response that has none': { status: 204, body: { a: 1 } },
}

async function setUp(render?: (outcome: Outcome) => never) {
  const { guard, bearer } = await bench()
  const failures: Failure[] = []
  const decisions: Decision[] = []
  const api = gate({
    guard,
    scopes,
    idempotency: createIdempotency({ storage: memoryIdempotency(), waitMs: 0 }),
    report: failure => failures.push(failure),
    observe: decision => decisions.push(decision),
    ...(render ? { render } : {}),
  })
  const headers = {
    authorization: await bearer({ scopes: ['cards.write'] }),
    'content-type': 'application/json',
    'idempotency-key': 'key-00000001',
  }
  return { api, headers, failures, decisions }
}

for (const [title, reply] of Object.entries(UNSENDABLE)) {
  t.test(`returns 500 for ${title}, reports it, and leaves the outcome of a write unknown`, async t => {
    const { api, headers, failures, decisions } = await setUp()
    const http = expressGate(api, { body: 'stream' })
    const url = await listen(
      t,
      http.handle(api.open('cards.list'), () => reply),
    )
    t.equal((await fetch(url)).status, 500)
    t.match(decisions, [{ status: 500, code: 'internal_error', failure: Error }])

    const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
    let runs = 0
    const serve = handle(api.idempotent(rule), () => {
      runs++
      return reply
    })
    const post = (): Promise<Response> =>
      serve(new Request('http://api.test/', { method: 'POST', headers, body: '{}' }), undefined)
    t.equal((await post()).status, 500)
    t.match(await (await post()).json(), { error: 'outcome_unknown' })
    t.equal(runs, 1)
    t.equal(failures.length, 2)
    t.equal(decisions.length, 3)
  })
}

for (const [name, value] of Object.entries({ circular, function: () => 'x' })) {
  t.test(
    `ends the run of a handler that responds through Koa with a body that JSON cannot represent: ${name}`,
    async t => {
      const { api, headers, failures } = await setUp()
      const http = koaGate(api, { body: 'stream' })
      const app = new Koa()
      app.use(http.guard(api.idempotent(rule))).use(ctx => {
        ctx.body = value
      })
      const url = await listen(t, app.callback())
      const post = (): Promise<Response> => fetch(url, { method: 'POST', headers, body: '{}' })
      t.match(await (await post()).json(), { error: 'internal_error' })
      t.match(await (await post()).json(), { error: 'outcome_unknown' })
      t.match(failures, [{ operation: 'cards.create', error: TypeError }])
    },
  )
}

t.test('the decision event contains the error of a renderer that throws', async t => {
  const { api, decisions } = await setUp(() => {
    throw new Error('cannot render')
  })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const reply = await handle(api.open('a.b'), () => ({ status: 200 }))(
    new Request('http://api.test/'),
    undefined,
  )
  t.equal(reply.status, 500)
  t.match(decisions, [{ status: 500, code: 'internal_error', failure: { message: 'cannot render' } }])
})

t.test('an observer whose promise rejects only causes a warning', async t => {
  const warnings: Error[] = []
  const collect = (warning: Error): unknown => warnings.push(warning)
  process.on('warning', collect)
  t.teardown(() => process.off('warning', collect))
  const api = gate({
    // oxlint-disable-next-line typescript/no-misused-promises -- what teams do, and JavaScript cannot refuse
    observe: async () => {
      throw new Error('the audit store is down')
    },
  })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const reply = await handle(api.open('a.b'), () => ({ status: 200 }))(
    new Request('http://api.test/'),
    undefined,
  )
  t.equal(reply.status, 200)
  for (let turns = 0; warnings.length === 0 && turns < 100; turns++) await setImmediate()
  t.match(warnings, [{ message: 'the audit store is down' }])
})

t.test('emits one decision event for an existing handler that throws synchronously', async t => {
  const { api, decisions } = await setUp()
  const http = expressGate(api, { body: 'stream' })
  const guard = http.guard(api.open('a.b'))
  const url = await listen(t, (request, response) =>
    guard(request, response, () => {
      throw new Error('broken')
    }),
  )
  t.equal((await fetch(url)).status, 500)
  for (let turns = 0; turns < 100; turns++) await setImmediate()
  t.equal(decisions.length, 1)
})

t.test('replays a stored response byte for byte', async t => {
  const texts: [HandlerResponse, string, string | null][] = [
    [
      {
        status: 200,
        headers: [['Content-Type', 'application/json']],
        body: '{"id":12345678901234567890,"p":1.50}',
      },
      '{"id":12345678901234567890,"p":1.50}',
      'application/json',
    ],
    [
      { status: 200, headers: [['Content-Type', 'application/json']], body: '"abc"' },
      '"abc"',
      'application/json',
    ],
    [
      { status: 200, headers: [['Content-Type', 'application/json; profile="x"']], body: '{"a":1}' },
      '{"a":1}',
      'application/json; profile="x"',
    ],
    [
      { status: 409, body: { error: 'own', message: 'own', status: 7, type: 'x' } },
      '{"error":"own","message":"own","status":7,"type":"x"}',
      'application/json; charset=utf-8',
    ],
    [
      { status: 200, body: { ok: false, code: 'x' } },
      '{"ok":false,"code":"x"}',
      'application/json; charset=utf-8',
    ],
    [{ status: 204 }, '', null],
  ]
  for (const [reply, text, type] of texts) {
    const { api, headers } = await setUp()
    const serve = fetchGate(api, { body: 'stream', peer: 'none' }).handle(api.idempotent(rule), () => reply)
    for (const replayed of [null, 'true']) {
      const got = await serve(
        new Request('http://api.test/', { method: 'POST', headers, body: '{}' }),
        undefined,
      )
      t.equal(got.headers.get('idempotency-replayed'), replayed)
      t.same([await got.text(), got.headers.get('content-type')], [text, type])
    }
  }
})
