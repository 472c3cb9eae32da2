// The steps of a route: credential, limits, body, record, and what an existing handler gets.
import { manualTime } from './manual-time.ts'
import { allow, scopeCatalogue, type Verdict, type HeaderField } from '@gatewright/kernel'
import { gate, type Decision, type IdempotencyPort } from '@gatewright/http'
import type { Outcome } from '@gatewright/http/internal'
import type { AliasPort } from '#packages/http/dist/ports.js'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { createAliases } from '@gatewright/legacy-alias-router'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const rule = { operation: 'cards.create', allOf: ['cards.write'] } as const
const scopes = scopeCatalogue(['cards.write'])
const table = createAliases({
  requestFields: [{ operation: 'cards.create', from: 'cap', to: 'capCents', mode: 'serve' }],
})
/** A schema that accepts every value. */
const schema = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const

interface SetUp {
  readonly aliases?: AliasPort
  readonly idempotency?: IdempotencyPort
  readonly render?: (outcome: Outcome) => { status: number; headers: readonly HeaderField[]; body: unknown }
}

const facts = {
  method: 'POST',
  path: '/x',
  query: new URLSearchParams(),
  search: '',
  header: () => undefined,
  address: '',
  secure: true,
}

async function ports() {
  const { guard } = await bench()
  return { guard, scopes, idempotency: createIdempotency({ storage: memoryIdempotency(), waitMs: 0 }) }
}

async function setUp(options: SetUp = {}) {
  const decisions: Decision[] = []
  const { guard, bearer } = await bench()
  const api = gate({
    guard,
    scopes,
    idempotency: createIdempotency({ storage: memoryIdempotency(), waitMs: 0 }),
    observe: decision => decisions.push(decision),
    report: () => {},
    ...options,
  })
  const authorization = await bearer()
  const post = (body: string, key = 'key-00000001'): Request =>
    new Request('http://api.test/x', {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': key },
      body,
    })
  return { api, decisions, post, bind: fetchGate(api, { body: 'clone', peer: 'none' }) }
}

t.test('a route says whether it is recorded, reads its body and renames fields of it', async t => {
  const { api } = await setUp({ aliases: table })
  t.match(api.open('plans.list'), { idempotent: false, readsBody: false, renamesFields: false })
  t.match(api.open('plans.list', { body: schema }), { idempotent: false, readsBody: true })
  t.match(api.open('plans.list', { query: schema }), { idempotent: false, readsBody: false })
  t.match(api.open('cards.create'), { idempotent: false, readsBody: false, renamesFields: true })
  t.match(api.guarded(rule), { idempotent: false, readsBody: false, renamesFields: true })
  t.match(api.idempotent(rule), { idempotent: true, readsBody: true, renamesFields: true })
  t.match((await setUp()).api.open('cards.create'), { renamesFields: false })
})

t.test('a route starts no request that it has not authorized, and serves nothing then', async t => {
  const failures: unknown[] = []
  const api = gate({ ...(await ports()), report: ({ error }) => failures.push(error) })
  const request = {
    request: {},
    facts: () => facts,
    params: {},
    readBody: async () => allow(new Uint8Array()),
    replaceBody: undefined,
  }
  const connection = { ended: false, signal: new AbortController().signal }
  for (const route of [api.open('plans.list'), api.guarded(rule), api.idempotent(rule)]) {
    const entered = api.enter({}, () => facts)
    if (!entered.ok) return
    const started = await route.start(entered.value, { ...request, connection })
    t.match(started, { ok: false, response: { status: 500 } }, route.operation)
    t.match(failures.at(-1), { message: /authorize must accept a request before it is started/ })
  }
})

t.test('joins RateLimit fields of the credential and of admit, and sends all others', async t => {
  const [limit, policy, other]: HeaderField[] = [
    ['RateLimit', 'a'],
    ['RateLimit-Policy', 'p'],
    ['X-Other', 'o'],
  ]
  for (const [held, admitted, sent] of [
    [[], [], []],
    [[limit], [], [limit]],
    [[], [limit, other], [limit, other]],
    [[limit], [other], [limit, other]],
    [
      [limit, policy],
      [['RateLimit', 'b'], other],
      [['RateLimit', 'a, b'], policy, other],
    ],
    [
      [limit, policy],
      [
        ['RateLimit', 'b'],
        ['RateLimit-Policy', 'q'],
      ],
      [
        ['RateLimit', 'a, b'],
        ['RateLimit-Policy', 'p, q'],
      ],
    ],
  ] as (readonly HeaderField[])[][]) {
    const api = gate({
      credentials: { key: { check: async () => allow('k'), headersOf: () => held as HeaderField[] } },
    })
    const admit = async () => allow(admitted as HeaderField[])
    const route = api.guardedBy('key', { operation: 'a.b', allOf: [] }, { admit })
    const served = fetchGate(api, { body: 'stream', peer: 'none' }).handle(route, () => ({ status: 200 }))
    const { headers } = await served(new Request('http://api.test/'), undefined)
    t.same(
      [...headers],
      sent?.map(([name, value]) => [name.toLowerCase(), value]),
    )
  }
})

/** A session guard that records what it is asked. */
function recordingGuard(recheck?: () => Promise<Verdict<unknown>>) {
  const session = { accountId: 'acc_1', keyId: 'key_1', sessionId: 'ses_1' }
  const asked: object[] = []
  const guard = {
    check: async (credential: object) => {
      asked.push(credential)
      return allow({ session: session as never, headers: [] })
    },
    prepare: () => {},
    ...(recheck && {
      recheck: async (_access: unknown, facts: object) => {
        asked.push(facts)
        return recheck()
      },
    }),
  }
  return { guard, asked }
}

t.test('gives the guard the address if one is known, and the proof with its method and URL', async t => {
  for (const [address, seen] of [
    [undefined, { address: 'unknown' }],
    ['192.0.2.1', { address: '192.0.2.1' }],
    ['none', {}],
  ] as const) {
    const { guard, asked } = recordingGuard()
    const api = gate({ guard, scopes })
    const peer = address === 'none' ? 'none' : () => address
    const served = fetchGate(api, { body: 'stream', peer }).handle(api.guarded(rule), () => ({ status: 200 }))
    for (const headers of [{ authorization: 'a' }, { authorization: 'a', dpop: 'd' }])
      await served(new Request('http://api.test/x?y', { headers }), undefined)
    t.strictSame(asked, [
      { authorization: 'a', ...seen },
      { dpop: 'd', method: 'GET', url: '/x', authorization: 'a', ...seen },
    ])
  }
})

t.test(
  'asks the guard again if the body took 100 ms or longer, with the address if one is known',
  async t => {
    const pass = manualTime(t)
    const denial = { ok: false, code: 'session_revoked', status: 401, message: 'revoked' } as const
    for (const [ms, recheck, address, status, facts] of [
      [99, denial, '192.0.2.1', 200, []],
      [100, denial, '192.0.2.1', 401, [{ address: '192.0.2.1' }]],
      [100, allow({}), 'none', 200, [{}]],
      [100, undefined, 'none', 200, []],
    ] as const) {
      const { guard, asked } = recordingGuard(recheck && (async () => recheck))
      const api = gate({ guard, scopes })
      const peer = address === 'none' ? 'none' : () => address
      const { handle } = fetchGate(api, { body: 'stream', peer })
      let runs = 0
      const served = handle(api.guarded(rule), () => ({ status: runs++ === 0 ? 200 : 500 }))
      const body = new ReadableStream(
        {
          pull(controller) {
            pass(ms)
            controller.enqueue(Buffer.from('{}'))
            controller.close()
          },
        },
        { highWaterMark: 0 },
      )
      const late = new Request('http://api.test/x', { method: 'POST', body, duplex: 'half' })
      t.equal((await served(late, undefined)).status, status)
      t.equal(runs, status === 200 ? 1 : 0)
      t.strictSame(asked.slice(1), facts)
    }
  },
)

t.test('asks a credential again that can, and else takes its caller for verified', async t => {
  const pass = manualTime(t)
  for (const [recheck, status] of [
    [undefined, 204],
    [async () => allow({}), 204],
    [async () => ({ ok: false, code: 'unauthorized', status: 401, message: 'gone' }) as const, 401],
  ] as const) {
    const check = async () => allow('caller')
    const api = gate({ credentials: { key: { check, ...(recheck && { recheck }) } } })
    const route = api.guardedBy('key', { operation: 'a.b', allOf: [] })
    const served = fetchGate(api, { body: 'stream', peer: 'none' }).handle(route, () => ({ status: 204 }))
    const body = new ReadableStream(
      {
        pull(controller) {
          pass(100)
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const late = new Request('http://api.test/x', { method: 'POST', body, duplex: 'half' })
    t.equal((await served(late, undefined)).status, status)
  }
})

t.test(
  'gives an existing handler its body under current names, and the same request without old ones',
  async t => {
    const { api, bind, post } = await setUp({ aliases: table })
    const seen: { request: Request; text: string }[] = []
    const served = bind.wrap(api.idempotent(rule), async request => {
      seen.push({ request, text: await request.text() })
      return new Response(null, { status: 201 })
    })
    const [old, current] = [post('{"cap":1}'), post('{ "capCents":1}', 'key-00000002')] as const
    for (const request of [old, current]) t.equal((await served(request, undefined)).status, 201)
    t.same(
      seen.map(each => each.text),
      ['{"capCents":1}', '{ "capCents":1}'],
    )
    t.same(
      seen.map(({ request }) => [old, current].includes(request)),
      [false, true],
    )
    const both = await served(post('{"cap":1,"capCents":2}', 'key-00000003'), undefined)
    t.equal(both.status, 400)
    t.equal(seen.length, 2)
  },
)

t.test('denies a body that is no JSON before an existing handler, with old names or without', async t => {
  for (const aliases of [undefined, table]) {
    const { api, bind, post } = await setUp(aliases ? { aliases } : {})
    const served = bind.wrap(api.idempotent(rule), () => new Response(null, { status: 201 }))
    t.equal((await served(post('{"cap":'), undefined)).status, 400)
    const text = post('{"cap":1}')
    text.headers.set('content-type', 'text/plain')
    t.equal((await served(text, undefined)).status, 415)
  }
})

t.test('leaves it to a handler of the gate to read its body, also an invalid one', async t => {
  for (const aliases of [undefined, table]) {
    const { api, bind, post } = await setUp(aliases ? { aliases } : {})
    const served = bind.handle(api.idempotent(rule), ({ json }) => ({ status: 201, body: json().ok }))
    t.equal(await (await served(post('{'), undefined)).text(), 'false')
  }
})

t.test('replays the response that an existing handler wrote, without rendering it', async t => {
  const rendered: string[] = []
  const render = (outcome: Outcome) => {
    rendered.push(outcome.kind)
    return {
      status: outcome.kind === 'response' ? outcome.response.status : 500,
      headers: [],
      body: 'rendered',
    }
  }
  const { api, bind, post, decisions } = await setUp({ render })
  let runs = 0
  const wrapped = bind.wrap(api.idempotent(rule), () => Response.json({ run: ++runs }, { status: 201 }))
  for (const replayed of [null, 'true']) {
    const response = await wrapped(post('{}'), undefined)
    t.match(response, { status: 201 })
    t.equal(await response.text(), '{"run":1}')
    t.equal(response.headers.get('content-type'), 'application/json')
    t.equal(response.headers.get('idempotency-replayed'), replayed)
    t.match(response.headers.get('idempotency-expires'), / GMT$/)
  }
  t.match(decisions, [
    { status: 201, replayed: false },
    { status: 201, replayed: true },
  ])
  t.equal(decisions.length, 2)
  t.same(rendered, [])
  const handled = bind.handle(api.idempotent(rule), () => ({ status: 201, body: { run: ++runs } }))
  for (const _ of [1, 2])
    t.equal(await (await handled(post('{"b":1}', 'key-00000002'), undefined)).text(), 'rendered')
  t.same(rendered, ['response', 'response'])
  t.equal(runs, 2)
})

t.test('sends a failure if another run has completed while an existing handler ran', async t => {
  const inner = createIdempotency({ storage: memoryIdempotency() })
  const late: IdempotencyPort = { ...(inner as IdempotencyPort), complete: async () => ({ state: 'late' }) }
  const { api, bind, post, decisions } = await setUp({ idempotency: late })
  const served = bind.wrap(api.idempotent(rule), () => new Response(null, { status: 201 }))
  t.equal((await served(post('{}'), undefined)).status, 503)
  t.match(decisions, [{ status: 503, reason: 'ERR_LEASE_LOST' }])
})

t.test(
  'the outcome is unknown if an existing handler throws, before its error reaches the server',
  async t => {
    const inner = createIdempotency({ storage: memoryIdempotency() }) as IdempotencyPort
    const completed: object[] = []
    const idempotency: IdempotencyPort = {
      ...inner,
      async complete(claim, output, undo) {
        await new Promise(resolve => setImmediate(resolve))
        completed.push(output)
        return inner.complete(claim, output, undo)
      },
    }
    const { api, bind, post, decisions } = await setUp({ idempotency })
    const served = bind.wrap(api.idempotent(rule), () => {
      throw new Error('broken')
    })
    await t.rejects(served(post('{}'), undefined), { message: 'broken' })
    t.same(completed, [{ status: 500, headers: [], body: '' }])
    t.match(decisions, [{ operation: 'cards.create', status: 500 }])
  },
)
