import express, { type Express, type RequestHandler } from 'express'
import Fastify from 'fastify'
import * as onExpress from 'gatewright/express'
import * as onFastify from 'gatewright/fastify'
import * as onKoa from 'gatewright/koa'
import Koa, { type Middleware } from 'koa'
import t, { type Test } from 'tap'
import { createWorld, listening, type World } from '../world.ts'

type Body = 'stream' | 'kept' | 'parsed'
const scope = 'payments.write'
const paid = (): { status: number; body: object } => ({ status: 201, body: {} })

/** A world, with the lines for the operator. */
function logged(): { world: World; lines: string[]; options: World['options'] } {
  const world = createWorld()
  const lines: string[] = []
  const gate = {
    hint: (line: string) => void lines.push(line),
    report: ({ error }: { error: unknown }) => void lines.push(String(error)),
  }
  return { world, lines, options: { ...world.options, policy: 'none', gate } as never }
}

interface Started {
  readonly lines: string[]
  send(path: string, sent?: { body?: string; type?: string; key?: string }): Promise<number>
}

function started(
  t: Test,
  { world, lines }: ReturnType<typeof logged>,
  server: { url: string; close(): unknown },
): Started {
  t.teardown(() => server.close() as Promise<unknown>)
  return {
    lines,
    async send(path, { body, type = 'application/json', key = 'the-same-key' } = {}) {
      const headers = {
        authorization: `Bearer ${await world.token('payments.write payments.read')}`,
        'idempotency-key': key,
        ...(body === undefined ? {} : { 'content-type': type }),
      }
      const method = body === undefined ? 'GET' : 'POST'
      return (await fetch(server.url + path, { method, headers, ...(body === undefined ? {} : { body }) }))
        .status
    },
  }
}

async function onExpressApp(t: Test, body: Body, ...before: RequestHandler[]): Promise<Started> {
  const made = logged()
  const gw = onExpress.gatewright({ ...made.options, body })
  const app: Express = express()
  for (const each of before) app.use(each)
  app.get('/payments', gw.read('payments.list', { scope }, paid))
  app.post('/payments', gw.write('payments.create', { scope }, paid))
  app.post('/existing', gw.protectWrite('existing.create', { scope }), (_request, response) => {
    response.status(201).json({})
  })
  return started(t, made, await listening(app.listen(0, '127.0.0.1')))
}

async function onKoaApp(t: Test, body: Body, ...before: Middleware[]): Promise<Started> {
  const made = logged()
  const gw = onKoa.gatewright({ ...made.options, body })
  const app = new Koa()
  for (const each of before) app.use(each)
  const list = gw.read('payments.list', { scope }, paid)
  const create = gw.write('payments.create', { scope }, paid)
  const existing = gw.protectWrite('existing.create', { scope })
  app.use((ctx, next) => {
    if (ctx.path === '/existing') return existing(ctx, next)
    return ctx.method === 'GET' ? list(ctx, next) : create(ctx, next)
  })
  app.use(ctx => {
    ctx.status = 201
    ctx.body = {}
  })
  return started(t, made, await listening(app.listen(0, '127.0.0.1')))
}

/** A parser of Koa, with what `koa-bodyparser` sets (`kept`), or with what `koa-body` does. */
const koaParser =
  (kept: boolean): Middleware =>
  async (ctx, next) => {
    const request = ctx.request as unknown as { body: unknown; rawBody?: string }
    const chunks: Buffer[] = []
    if (ctx.method === 'POST') for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    request.body = text === '' ? {} : JSON.parse(text)
    if (kept) request.rawBody = text
    await next()
  }

t.test('a parser before a gate that streams is noticed at a request without a body, once', async t => {
  for (const [name, app] of [
    ['express.json()', await onExpressApp(t, 'stream', express.json())],
    ['a body parser such as koa-bodyparser or koa-body', await onKoaApp(t, 'stream', koaParser(false))],
  ] as const) {
    for (const _ of [1, 2]) t.equal(await app.send('/payments'), 201)
    t.equal(app.lines.length, 1)
    t.match(
      app.lines[0],
      /a body parser runs before the routes of the gate.*and body: 'kept' \(logged once\)/,
    )
    t.ok(app.lines[0]?.includes(`Mount the routes before ${name}`), app.lines[0] ?? '')
    t.equal(await app.send('/payments', { body: '{"a":1}' }), 500)
    t.match(app.lines[1], /body 'stream': another parser has read this request\. Mount the routes before/)
  }
})

t.test(
  'says nothing of parsers where the gate reads no body, of those of adapters, and without one',
  async t => {
    const made = logged()
    const gw = onExpress.gatewright(made.options)
    const app = express()
      .use(express.json())
      .get('/payments', gw.read('payments.list', { scope }, paid))
    const reads = started(t, made, await listening(app.listen(0, '127.0.0.1')))
    const adapter: RequestHandler = (request, _response, next) => {
      request.body = Buffer.alloc(0)
      next()
    }
    for (const each of [
      reads,
      await onExpressApp(t, 'stream'),
      await onExpressApp(t, 'stream', adapter),
      await onKoaApp(t, 'stream'),
    ]) {
      t.equal(await each.send('/payments'), 201)
      t.same(each.lines, [])
    }
  },
)

const keep = express.json({ verify: onExpress.keepRawBody })
const fails = (body: string, lines: RegExp) => ({ body, status: 500, lines })

t.test(
  'JSON that no parser has read or kept is a mistake of the server, which names its framework',
  async t => {
    const unread = '{"amountCents":1}'
    const older: RequestHandler = (request, _response, next) => {
      // The body parser of Express 4 sets {} for a body of another type.
      request.body = {}
      next()
    }
    const missing =
      /body 'kept': no parser has read this request: mount one that keeps the bytes before the gate: /
    const cases: readonly [string, Started, RegExp][] = [
      [
        'Express, kept, none',
        await onExpressApp(t, 'kept'),
        new RegExp(`${missing.source}app\\.use\\(express\\.json`),
      ],
      ['Express, kept, of forms', await onExpressApp(t, 'kept', express.urlencoded()), missing],
      [
        'Express, kept, keeps none',
        await onExpressApp(t, 'kept', express.json()),
        /kept no bytes: app\.use\(express\.json/,
      ],
      [
        'Express, parsed, none',
        await onExpressApp(t, 'parsed'),
        /no parser has read this request: mount express\.json\(\)/,
      ],
      [
        'Express, parsed, of forms',
        await onExpressApp(t, 'parsed', older),
        /no parser has read this request: mount/,
      ],
      ['Koa, kept, none', await onKoaApp(t, 'kept'), new RegExp(`${missing.source}app\\.use\\(bodyParser`)],
      [
        'Koa, kept, keeps none',
        await onKoaApp(t, 'kept', koaParser(false)),
        /kept no bytes: app\.use\(bodyParser/,
      ],
      [
        'Koa, parsed, none',
        await onKoaApp(t, 'parsed'),
        /no parser has read this request: mount a body parser such as koa/,
      ],
    ]
    for (const [name, app, line] of cases)
      for (const path of ['/payments', '/existing']) {
        app.lines.length = 0
        const { body, status, lines } = fails(unread, line)
        t.equal(await app.send(path, { body, key: `key of ${path}` }), status, `${name} ${path}`)
        t.match(app.lines[0], lines, name)
      }
  },
)

t.test(
  'a form is refused as a form by every choice of body, and JSON runs where a parser is right',
  async t => {
    const cases: readonly [string, Started][] = [
      ['Express, stream', await onExpressApp(t, 'stream')],
      ['Express, kept', await onExpressApp(t, 'kept', keep)],
      ['Express, parsed', await onExpressApp(t, 'parsed', express.json())],
      ['Koa, stream', await onKoaApp(t, 'stream')],
      ['Koa, kept', await onKoaApp(t, 'kept', koaParser(true))],
      ['Koa, parsed', await onKoaApp(t, 'parsed', koaParser(false))],
    ]
    for (const [name, app] of cases)
      for (const path of ['/payments', '/existing']) {
        const send = (body: string, key: string): Promise<number> => app.send(path, { body, key: key + path })
        t.equal(await send('{"amountCents":1}', 'a-first-key'), 201, `${name} ${path}`)
        t.equal(await send('{"amountCents":1}', 'a-first-key'), 201, `${name} ${path} again`)
        t.equal(await send('{"amountCents":2}', 'a-first-key'), 400, `${name} ${path} with another body`)
        t.equal(await send('{}', 'a-second-key'), 201, `${name} ${path} with an empty object`)
        if (name.startsWith('Express')) {
          const form = { body: 'a=1', type: 'application/x-www-form-urlencoded', key: `a-third-key${path}` }
          t.equal(await app.send(path, form), 415, `${name} ${path} with a form`)
        }
        t.same(app.lines, [], name)
      }
  },
)

t.test('Fastify: a write without the plugin says what to register', async t => {
  const made = logged()
  const gw = onFastify.gatewright(made.options)
  const app = Fastify()
  app.post('/payments', gw.write('payments.create', { scope }, paid))
  app.post('/existing', {
    ...gw.protectWrite('existing.create', { scope }),
    handler: async () => ({}),
  } as never)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const { send, lines } = started(t, made, { url, close: () => app.close() })
  for (const path of ['/payments', '/existing']) {
    lines.length = 0
    t.equal(await send(path, { body: '{"a":1}' }), 500)
    t.match(
      lines[0],
      /the bytes of this request were not kept: write await app\.register\(gw\.plugin\) before the routes/,
    )
  }
})
