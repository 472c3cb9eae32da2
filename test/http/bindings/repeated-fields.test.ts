// A header field that a response has twice, such as Link or Set-Cookie, is sent twice on every server, and also in a replay. Links of
// old names are sent beside those of the handler, and only to who used an old name.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import * as http2 from 'node:http2'
import { scopeCatalogue } from '@gatewright/kernel'
import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { createAliases } from '@gatewright/legacy-alias-router'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'
import { listen } from '../../harness/listen.ts'

const rule = { operation: 'cards.create', allOf: ['cards.write'] } as const
const LINKS = ['<https://docs.test/a>; rel="help"', '<https://docs.test/b>; rel="help"'] as const
const SUCCESSOR = '</cards>; rel="successor-version"'
const COOKIES = ['a=1', 'b=2'] as const
const reply = {
  status: 201,
  headers: [
    ...LINKS.map(value => ['Link', value] as const),
    ...COOKIES.map(value => ['Set-Cookie', value] as const),
  ],
  body: { made: true },
}

async function setUp() {
  const { guard, bearer } = await bench()
  const idempotency = createIdempotency({ storage: memoryIdempotency() })
  const mode = { deprecatedSince: Date.UTC(2026, 0, 1), sunset: Date.UTC(2027, 0, 1) }
  const aliases = createAliases({ paths: [{ from: '/old-cards', to: '/cards', mode }] })
  const api = gate({ guard, idempotency, aliases, scopes: scopeCatalogue(['cards.write']) })
  const route = api.idempotent(rule)
  return { api, route, authorization: await bearer({ scopes: ['cards.write'] }) }
}
type SetUp = Awaited<ReturnType<typeof setUp>>
type Send = (request: Request) => Promise<Response>

function cardRequest(path: string, authorization: string, key?: string): Request {
  const headers = {
    authorization,
    'content-type': 'application/json',
    ...(key && { 'idempotency-key': key }),
  }
  return new Request(`http://api.test${path}`, { method: 'POST', headers, body: '{}' })
}

async function served(server: Server, t: Test): Promise<Send> {
  const base = await listen(t, server)
  return async ({ url, headers }) =>
    fetch(base + new URL(url).pathname, { method: 'POST', headers, body: '{}' })
}

/** An Express application whose existing handler is this one. */
const existingExpress =
  (handler: express.RequestHandler): (typeof servers)[string] =>
  ({ api, route }, t) => {
    const gw = expressGate(api, { body: 'stream' })
    const app = express()
    app.use(gw.aliases)
    app.post('/cards', gw.guard(route), handler)
    return served(createServer(app), t)
  }

/** A Koa application that serves one operation. */
function koaTable(api: SetUp['api'], route: SetUp['route']): Koa {
  const gw = koaGate(api, { body: 'stream' })
  const app = new Koa()
  app.use(gw.handle(route, () => reply))
  return app
}

const servers: Readonly<Record<string, (setUp: SetUp, t: Test) => Promise<Send> | Send>> = {
  fetch({ api, route }) {
    const gw = fetchGate(api, { body: 'stream', peer: 'none' })
    const handle = gw.handle(route, () => reply)
    return gw.aliases(request => handle(request))
  },
  Express({ api, route }, t) {
    const gw = expressGate(api, { body: 'stream' })
    const app = express()
    app.use(gw.aliases)
    app.post(
      '/cards',
      gw.handle(route, () => reply),
    )
    return served(createServer(app), t)
  },
  'an existing Express handler': existingExpress((_request, response) => {
    for (const link of LINKS) response.append('Link', link)
    for (const cookie of COOKIES) response.append('Set-Cookie', cookie)
    response.status(201).json({ made: true })
  }),
  'an existing Express handler that sets its links': existingExpress((_request, response) => {
    response.set('Link', [...LINKS]).append('Set-Cookie', [...COOKIES])
    response.status(201).json({ made: true })
  }),
  'an existing Express handler that joins its links': existingExpress((_request, response) => {
    response
      .links({ help: ['https://docs.test/a', 'https://docs.test/b'] })
      .append('Set-Cookie', [...COOKIES])
    response.status(201).json({ made: true })
  }),
  'an existing Node handler that writes its head'({ api, route }, t) {
    const gw = expressGate(api, { body: 'stream' })
    const guard = gw.guard(route)
    const server = createServer((request, response) =>
      gw.aliases(request, response, () =>
        guard(request, response, () => {
          const fields = [
            ...LINKS.flatMap(link => ['Link', link]),
            ...COOKIES.flatMap(each => ['Set-Cookie', each]),
          ]
          response.writeHead(201, fields).end('{}')
        }),
      ),
    )
    return served(server, t)
  },
  'an existing Koa handler that sets its links'({ api, route }, t) {
    const gw = koaGate(api, { body: 'stream' })
    const app = new Koa()
    app.use(gw.aliases)
    app.use(gw.guard(route))
    app.use(ctx => {
      ctx.set('Link', [...LINKS])
      ctx.set('Set-Cookie', [...COOKIES])
      Object.assign(ctx, { status: 201, body: { made: true } })
    })
    return served(createServer(app.callback()), t)
  },
  async 'an existing Fastify handler that sets its links'({ api, route }, t) {
    const gw = fastifyGate(api, { body: 'kept' })
    const app = fastify({ rewriteUrl: gw.rewriteUrl })
    await app.register(gw.plugin)
    app.post('/cards', gw.hooks(route), async (_request, reply) =>
      reply
        .code(201)
        .header('Link', [...LINKS])
        .header('Set-Cookie', [...COOKIES])
        .send({ made: true }),
    )
    await app.ready()
    t.teardown(() => app.close())
    return served(app.server, t)
  },
  'an existing fetch handler that sets its links'({ api, route }) {
    const gw = fetchGate(api, { body: 'clone', peer: 'none' })
    const headers = [
      ...LINKS.map((value): [string, string] => ['Link', value]),
      ...COOKIES.map((value): [string, string] => ['Set-Cookie', value]),
    ]
    const wrapped = gw.wrap(route, () => Response.json({ made: true }, { status: 201, headers }))
    return gw.aliases(request => wrapped(request))
  },
  Koa({ api, route }, t) {
    const gw = koaGate(api, { body: 'stream' })
    const app = new Koa()
    app.use(gw.aliases)
    app.use(gw.handle(route, () => reply))
    return served(createServer(app.callback()), t)
  },
  'a Koa table of operations'({ api, route }, t) {
    return served(createServer(koaTable(api, route).callback()), t)
  },
  async Fastify({ api, route }, t) {
    const gw = fastifyGate(api, { body: 'kept' })
    const app = fastify({ rewriteUrl: gw.rewriteUrl })
    await app.register(gw.plugin)
    app.post(
      '/cards',
      gw.handle(route, () => reply),
    )
    await app.ready()
    t.teardown(() => app.close())
    return served(app.server, t)
  },
}

for (const [name, mount] of Object.entries(servers)) {
  t.test(`${name}: repeated header fields are all sent`, async t => {
    const made = await setUp()
    const send = await mount(made, t)
    const post = (path: string, key: string) => send(cardRequest(path, made.authorization, key))
    const created = async () => {
      const { status, headers } = await post('/cards', 'key-of-a-card')
      return [status, headers.get('link'), headers.getSetCookie(), headers.get('idempotency-replayed')]
    }
    t.same(await created(), [201, LINKS.join(', '), COOKIES, null])
    t.same(await created(), [201, LINKS.join(', '), [], 'true'], 'a cookie is never stored')
    const links = async (path: string, key: string) => {
      const { headers } = await post(path, key)
      return [headers.get('idempotency-replayed'), headers.get('link')?.split(', ').sort()]
    }
    const all = [SUCCESSOR, ...LINKS].sort()
    t.same(await links('/old-cards', 'key-by-an-old-name'), [null, all])
    t.same(await links('/old-cards', 'key-by-an-old-name'), ['true', all])
    t.same(await links('/cards', 'key-by-an-old-name'), ['true', LINKS])
  })

  t.test(`${name}: links of old names are also sent without idempotency`, async t => {
    const made = await setUp()
    const route = made.api.guarded(rule) as typeof made.route
    const send = await mount({ ...made, route }, t)
    const { headers: sent } = await send(cardRequest('/old-cards', made.authorization))
    t.same(sent.get('link')?.split(', ').sort(), [SUCCESSOR, ...LINKS].sort())
    t.same(sent.getSetCookie(), COOKIES)
  })
}

t.test('links that a middleware has set before the gate are sent beside those of old names', async t => {
  const { api, route, authorization } = await setUp()
  const gw = expressGate(api, { body: 'stream' })
  const app = express()
  app.use((_request, response, next) => {
    response.set('Link', [...LINKS])
    next()
  })
  app.use(gw.aliases)
  app.post('/cards', gw.guard(route), (_request, response) => {
    response.status(201).json({ made: true })
  })
  const send = await served(createServer(app), t)
  const { headers: sent } = await send(cardRequest('/old-cards', authorization, 'key-of-a-card'))
  t.same(sent.get('link')?.split(', ').sort(), [SUCCESSOR, ...LINKS].sort())
})

t.test('HTTP/2: a head that is written as pairs of name and value is sent', async t => {
  const { api } = await setUp()
  const gw = expressGate(api, { body: 'stream' })
  const server = http2.createServer((request, response) =>
    gw.aliases(request, response, () => {
      response.writeHead(201, LINKS.map(link => ['link', link]) as never)
      response.end()
    }),
  )
  const client = http2.connect(await listen(t, server))
  t.teardown(() => client.close())
  const stream = client.request({ ':method': 'POST', ':path': '/old-cards' }, { endStream: true })
  const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
  stream.resume()
  t.match(head, { ':status': 201, link: [...LINKS, SUCCESSOR].join(', ') })
})

t.test('HTTP/2: a Koa table of operations sends repeated fields', async t => {
  const { api, route, authorization } = await setUp()
  const server = http2.createServer(koaTable(api, route).callback())
  const client = http2.connect(await listen(t, server))
  t.teardown(() => client.close())
  const headers = { authorization, 'idempotency-key': 'key-of-a-card', 'content-type': 'application/json' }
  const stream = client.request({ ':method': 'POST', ':path': '/cards', ...headers })
  stream.end('{}')
  const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
  stream.resume()
  t.match(head, { ':status': 201, link: LINKS.join(', '), 'set-cookie': COOKIES })
})

t.test('Fastify: links of old names are sent beside those of a handler that no gate guards', async t => {
  const { api } = await setUp()
  const gw = fastifyGate(api, { body: 'kept' })
  const app = fastify({ rewriteUrl: gw.rewriteUrl })
  await app.register(gw.plugin)
  app.post('/cards', async (_request, reply) => reply.header('Link', [...LINKS]).send({ made: true }))
  await app.ready()
  t.teardown(() => app.close())
  const { headers } = await app.inject({ method: 'POST', url: '/old-cards' })
  t.same(headers.link, [...LINKS, SUCCESSOR])
})

for (const name of ['an existing Express handler', 'an existing fetch handler']) {
  t.test(`${name}: a link that begins like that of an old name is another link`, async t => {
    const { api, route, authorization } = await setUp()
    const titled = `${SUCCESSOR}; title="cards, <new>"`
    let send: Send
    if (name.includes('Express')) {
      const gw = expressGate(api, { body: 'stream' })
      const app = express()
      app.use(gw.aliases)
      app.post('/cards', gw.guard(route), (_request, response) => {
        response.status(201).set('Link', titled).json({ made: true })
      })
      send = await served(createServer(app), t)
    } else {
      const gw = fetchGate(api, { body: 'clone', peer: 'none' })
      const wrapped = gw.wrap(route, () => Response.json({}, { status: 201, headers: { Link: titled } }))
      send = gw.aliases(request => wrapped(request))
    }
    const links = async (path: string) => {
      const reply = await send(cardRequest(path, authorization, 'key-of-a-card'))
      return [reply.headers.get('idempotency-replayed'), reply.headers.get('link')]
    }
    t.same(await links('/old-cards'), [null, `${titled}, ${SUCCESSOR}`])
    t.same(await links('/cards'), ['true', titled])
    t.match(await links('/old-cards'), ['true', new RegExp(`(^|, )${SUCCESSOR}($|, )`)])
  })
}

t.test('Koa: an error response has all fields of old names', async t => {
  const { api } = await setUp()
  const app = new Koa()
  app.silent = true
  app.use(koaGate(api, { body: 'stream' }).aliases).use(ctx => ctx.throw(409, 'taken'))
  const send = await served(createServer(app.callback()), t)
  const { status, headers } = await send(new Request('http://api.test/old-cards', { method: 'POST' }))
  t.same(
    [status, headers.get('link'), headers.get('deprecation'), headers.get('sunset')],
    [409, SUCCESSOR, '@1767225600', 'Fri, 01 Jan 2027 00:00:00 GMT'],
  )
})
