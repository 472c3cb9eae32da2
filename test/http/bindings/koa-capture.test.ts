// What Koa has at the end of its middleware is recorded before it is sent.
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { scopeCatalogue } from '@gatewright/kernel'
import { gate, type Decision, type IdempotencyPort } from '@gatewright/http'
import { koaGate } from '@gatewright/http/koa'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import Koa, { type Context } from 'koa'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'
import { listen } from '../../harness/listen.ts'

const { guard, bearer } = await bench()
const authorization = await bearer()
const decisions: Decision[] = []
const completed: { status: number; body: string }[] = []
const inner = createIdempotency({ storage: memoryIdempotency(), waitMs: 0 }) as IdempotencyPort
let isLate = false
const api = gate({
  guard,
  scopes: scopeCatalogue(['cards.write']),
  idempotency: {
    ...inner,
    async complete(claim, output, undo) {
      await new Promise(resolve => setImmediate(resolve))
      completed.push(output)
      return isLate ? { state: 'late' } : inner.complete(claim, output, undo)
    },
  },
  observe: decision => decisions.push(decision),
  report: () => {},
})
const bind = koaGate(api, { body: 'stream' })
const rule = { operation: 'cards.create', allOf: ['cards.write'] } as const
let handler: (ctx: Context) => unknown = () => {}
const recorded = bind.guard(api.idempotent(rule)) as unknown as Koa.Middleware
const plain = bind.guard(api.guarded(rule)) as unknown as Koa.Middleware
const app = new Koa()
app.silent = true
app.use((ctx, next) => (ctx.path === '/plain' ? plain : recorded)(ctx, next))
app.use(async ctx => void (await handler(ctx)))
const url = await listen(t, createServer(app.callback()))

let keys = 0
/** Sends a write with a key of its own, or with this one. */
async function post(path = '/', key = `key-${String(++keys).padStart(8, '0')}`, address = url) {
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': key }
  const response = await fetch(`${address}${path}`, { method: 'POST', headers, body: '{}' })
  return { key, status: response.status, headers: response.headers, text: await response.text() }
}

t.test('records each kind of body, and replays it with the fields of the run', async t => {
  const bodies: [body: unknown, text: string][] = [
    ['text', 'text'],
    [Buffer.from('bytes'), 'bytes'],
    [{ a: 1 }, '{"a":1}'],
    [[1], '[1]'],
    [7, '7'],
  ]
  for (const [body, text] of bodies) {
    handler = ctx => {
      ctx.status = 201
      ctx.body = body
    }
    const { key, ...first } = await post()
    t.match(first, { status: 201, text })
    t.match(first.headers.get('idempotency-expires'), / GMT$/)
    t.equal(completed.at(-1)?.body, text)
    const replay = await post('/', key)
    t.match(replay, { status: 201, text })
    t.equal(replay.headers.get('idempotency-replayed'), 'true')
  }
  for (const body of [null, undefined]) {
    handler = ctx => {
      ctx.body = body
      ctx.status = 204
    }
    t.match(await post(), { status: 204, text: '' })
    t.equal(completed.at(-1)?.body, '')
  }
})

t.test('refuses a body that cannot be recorded, with an unknown outcome', async t => {
  for (const [body, name] of [
    [() => Readable.from(['a']), 'Readable'],
    [() => new ReadableStream(), 'ReadableStream'],
    [() => new Blob(['a']), 'Blob'],
    // Another server of this process may have replaced the global class by one with a longer name.
    [() => new Response('a'), 'Response[^)]*'],
  ] as const) {
    handler = ctx => void (ctx.body = body())
    const { key, status } = await post()
    t.equal(status, 500, name)
    t.match(decisions.at(-1), { status: 500, failure: { message: new RegExp(`a stream \\(${name}\\)`) } })
    t.equal((await post('/', key)).status, 503)
  }
  const circular: { self?: object } = {}
  circular.self = circular
  handler = ctx => void (ctx.body = circular)
  t.equal((await post()).status, 500)
  t.match(decisions.at(-1), { failure: { name: 'TypeError', message: /circular/ } })
  handler = ctx => {
    ctx.respond = false
    ctx.body = 'own'
  }
  const count = decisions.length
  // Nobody responds to it.
  post().catch(() => {})
  while (decisions.length === count) await new Promise(resolve => setImmediate(resolve))
  t.match(decisions.at(-1), { status: 500, failure: { message: /stream/ } })
})

t.test('the outcome is unknown before Koa sends the error of a handler, with its status', async t => {
  for (const [error, status] of [
    [{ status: 400, expose: true }, 400],
    [{ statusCode: 418 }, 418],
    [{ status: 422, statusCode: 418 }, 422],
    [{ status: 399 }, 500],
    [{ status: '404' }, 500],
    [{}, 500],
  ] as const) {
    handler = () => {
      throw Object.assign(new Error('own'), error)
    }
    const count = completed.length
    const { key } = await post()
    t.equal(completed.length, count + 1, 'before the response')
    t.match(completed.at(-1), { status: 500 })
    t.equal(decisions.at(-1)?.status, status, JSON.stringify(error))
    t.equal((await post('/', key)).status, 503)
  }
})

t.test('sends another response if another run has completed meanwhile', async t => {
  handler = ctx => void (ctx.body = 'own')
  isLate = true
  const { status, text } = await post()
  isLate = false
  t.equal(status, 503)
  t.match(JSON.parse(text), { error: 'service_unavailable' })
})

t.test('emits the event of a handler without a record when its response ends', async t => {
  const count = decisions.length
  handler = async ctx => {
    await new Promise(resolve => setImmediate(resolve))
    ctx.status = 202
    ctx.body = 'own'
  }
  t.match(await post('/plain'), { status: 202, text: 'own' })
  while (decisions.length === count) await new Promise(resolve => setImmediate(resolve))
  t.match(decisions.slice(count), [{ operation: 'cards.create', status: 202 }])
})

t.test(
  'an error of the next middleware is recorded, and that of a later one leaves the outcome unknown',
  async t => {
    const fail: Koa.Middleware = ctx => void (ctx.status = 409)
    const answer = async (...after: readonly Koa.Middleware[]): Promise<number[]> => {
      const served = new Koa()
      served.silent = true
      for (const middleware of [recorded, ...after]) served.use(middleware)
      const address = await listen(t, createServer(served.callback()))
      const { status, key } = await post('/', undefined, address)
      return [status, (await post('/', key, address)).status]
    }
    t.same(await answer(fail), [409, 409])
    const between: Koa.Middleware = (_ctx, next) => next()
    t.same(await answer(between, fail), [409, 503])
  },
)

t.test('records the body that a handler sets after other code has responded, with its type', async t => {
  for (const [body, text, type] of [
    ['text', 'text', 'text/plain; charset=utf-8'],
    [Buffer.from('bytes'), 'bytes', 'text/plain; charset=utf-8'],
    [{ a: 1 }, '{"a":1}', 'application/json; charset=utf-8'],
  ] as const) {
    const served = new Koa()
    let [begun, goOn] = [() => {}, () => {}]
    const runs = new Promise<void>(resolve => (begun = resolve))
    const responded = new Promise<void>(resolve => (goOn = resolve))
    let isFirst = true
    served.use(async (ctx, next) => {
      const rest = next()
      if (!isFirst) return rest
      isFirst = false
      await runs
      ctx.status = 503
      ctx.body = 'too late'
      return undefined
    })
    served.use(recorded)
    served.use(async ctx => {
      begun()
      await responded
      ctx.body = body
    })
    const address = await listen(t, createServer(served.callback()))
    const count = completed.length
    const { key, status } = await post('/', undefined, address)
    t.equal(status, 503)
    goOn()
    while (!completed.slice(count).some(each => each.body === text))
      await new Promise(resolve => setImmediate(resolve))
    const again = await post('/', key, address)
    t.match(again, { status: 200, text })
    t.equal(again.headers.get('content-type'), type)
  }
})
