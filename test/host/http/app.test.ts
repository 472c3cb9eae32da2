import { text } from 'node:stream/consumers'
import t from 'tap'
import { EMPTY, sample, serveOperations } from './serve-operations.ts'

const TABLE = [sample({ id: 'things.get', credential: 'none' })]

t.test(
  "a team's middleware runs for pages, operations and unknown paths, and reads what is sent",
  async t => {
    const seen: [string, number, number][] = []
    const { send } = await serveOperations(t, TABLE, {
      middleware: [
        async (ctx, next) => {
          await next()
          ctx.set('X-Team', 'a')
          seen.push([ctx.path, ctx.status, (ctx.body as string | Buffer).length])
        },
      ],
    })
    const paths = ['/page', '/user/v1/things', '/nothing']
    for (const path of paths) {
      const { headers, text } = await send(path)
      t.equal(headers.get('x-team'), 'a', path)
      t.equal(seen.at(-1)?.[2], text.length)
    }
    t.same(
      seen.map(([path, status]) => [path, status]),
      [
        ['/page', 405],
        ['/user/v1/things', 200],
        ['/nothing', 404],
      ],
    )
  },
)

t.test("a team's middleware can respond itself, and nothing behind it runs", async t => {
  const { send, decisions } = await serveOperations(t, TABLE, {
    middleware: [
      ctx => {
        ctx.status = 418
      },
    ],
  })
  t.equal((await send('/user/v1/things')).status, 418)
  t.same(decisions, [])
})

t.test("an error of a team's middleware is rendered as one of an operation, and reported", async t => {
  const { send, decisions } = await serveOperations(t, TABLE, {
    middleware: [
      () => {
        throw new Error('a fault of the team')
      },
    ],
  })
  const { status, body } = await send('/user/v1/things')
  t.equal(status, 500)
  t.match(body, { error: 'internal_error' })
  t.notMatch(JSON.stringify(body), 'a fault of the team')
  t.match(decisions, [{ status: 500, failure: { message: 'a fault of the team' } }])
})

t.test(
  "a refusal that a team's middleware throws keeps its status, and an error of another server does not",
  async t => {
    const { send, decisions } = await serveOperations(t, TABLE, {
      middleware: [
        ctx => {
          if (ctx.path === '/user/v1/things') ctx.throw(403, 'not from this network')
          throw Object.assign(new Error('a call of the team failed'), { status: 401 })
        },
      ],
    })
    const refused = await send('/user/v1/things')
    t.match(refused, { status: 403, body: { error: 'forbidden', message: 'Not from this network.' } })
    t.equal((await send('/nothing')).status, 500)
    t.match(decisions, [
      { status: 403, failure: undefined },
      { status: 500, failure: {} },
    ])
  },
)

t.test(
  "a write whose body a team's middleware has read fails with the reason, and does not wait",
  async t => {
    const write = sample({
      id: 'things.create',
      method: 'POST',
      credential: 'none',
      limit: 'none',
      body: EMPTY,
    })
    const { send, decisions } = await serveOperations(t, [write], {
      middleware: [
        async (ctx, next) => {
          await text(ctx.req)
          await next()
        },
      ],
    })
    t.equal((await send('/user/v1/things', { method: 'POST', body: '{}' })).status, 500)
    t.match(decisions, [{ failure: { message: /another parser has read this request/ } }])
  },
)

t.test(
  "a refusal that a team's middleware throws after a write is a failure, since the write was made",
  async t => {
    const write = sample({
      id: 'things.create',
      method: 'POST',
      credential: 'none',
      limit: 'none',
      body: EMPTY,
    })
    const { send, decisions, failures } = await serveOperations(t, [write], {
      middleware: [
        async (ctx, next) => {
          await next()
          ctx.throw(403, 'too late')
        },
      ],
    })
    const { status, body } = await send('/user/v1/things', { method: 'POST', body: '{}' })
    t.equal(status, 500)
    t.notMatch(JSON.stringify(body), 'too late')
    t.match(failures, [{ message: 'too late' }], 'it is reported')
    t.match(decisions, [{ operation: 'things.create', status: 200 }])
  },
)

t.test(
  'every response is the same with middleware of a team that changes nothing as without any',
  async t => {
    const table = [
      ...TABLE,
      sample({ id: 'things.create', method: 'POST', credential: 'none', limit: 'none', body: EMPTY }),
      sample({ id: 'cards.get', paths: ['/user/v1/cards'] }),
    ]
    const plain = await serveOperations(t, table)
    const behind = await serveOperations(t, table, { middleware: [(_ctx, next) => next()] })
    const requests: [string, { method?: string; headers?: Record<string, string>; body?: string }][] = [
      ['/page', {}],
      ['/user/v1/things', {}],
      ['/user/v1/things', { method: 'HEAD' }],
      ['/user/v1/things', { headers: { origin: 'https://a.example', 'x-open-responses': '1' } }],
      ['/user/v1/things', { method: 'OPTIONS' }],
      ['/user/v1/things', { method: 'DELETE' }],
      ['/user/v1/things', { method: 'POST', body: '{}' }],
      ['/user/v1/things', { method: 'POST', body: '[' }],
      ['/user/v1/cards', {}],
      ['/user/v1/nothing', {}],
      ['/user/v1/things?a=1', {}],
    ]
    for (const draining of [false, true]) {
      if (draining) for (const each of [plain, behind]) each.drain()
      for (const [path, request] of requests) {
        const [one, other] = [await plain.send(path, request), await behind.send(path, request)]
        t.same(shown(one), shown(other), `${request.method ?? 'GET'} ${path}`)
      }
    }
  },
)

/** A response without what differs between any two. */
function shown({ status, headers, text }: { status: number; headers: Headers; text: string }) {
  const id = headers.get('x-request-id') ?? 'none'
  const random = /(resp|call|msg|fco)_[0-9a-f]{32}/g
  const fields = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id')
  return { status, fields, text: text.replaceAll(id, 'ID').replaceAll(random, '$1') }
}
