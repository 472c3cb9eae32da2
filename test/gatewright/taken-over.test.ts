// A connection that a guarded handler makes a WebSocket or takes over in another way, as each runtime shows it.
import { once } from 'node:events'
import {
  createServer,
  ServerResponse,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Decision } from '@gatewright/http'
import { createAliases } from '@gatewright/legacy-alias-router'
import express from 'express'
import Fastify from 'fastify'
import * as onExpress from 'gatewright/express'
import * as onFastify from 'gatewright/fastify'
import * as onFetch from 'gatewright/fetch'
import * as onHono from 'gatewright/hono'
import * as onKoa from 'gatewright/koa'
import * as onNext from 'gatewright/next'
import * as onNode from 'gatewright/node'
import { Hono } from 'hono'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { createWorld } from './world.ts'

/** A world whose decisions are seen, and whose responses get fields of their own. */
function seeing() {
  const { options, token } = createWorld()
  const decisions: Decision[] = []
  const failures: unknown[] = []
  const aliases = createAliases({
    prefixes: [{ from: '/old', to: '/feed', mode: { deprecatedSince: Date.UTC(2026, 0, 1) } }],
  })
  const gate = {
    aliases,
    exposeHeaders: true,
    observe: (decision: Decision) => void decisions.push(decision),
    report: ({ error }: { readonly error: unknown }) => void failures.push(error),
  }
  return { options: { ...options, gate }, token, decisions, failures }
}

const READ = { scope: 'payments.read' } as const
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const handshake = (authorization: string): Record<string, string> => ({
  authorization,
  upgrade: 'WebSocket',
  connection: 'Upgrade',
  origin: 'https://app.example',
  traceparent: TRACE,
})

/** A response that no constructor makes on Node. */
const withStatus = (status: number): Response =>
  Object.defineProperties(new Response(null), { status: { value: status } })

/** Makes everything of a request throw from now on, as Deno does once its connection is a WebSocket. */
function close(request: Request): void {
  const get = (): never => {
    throw new TypeError('request closed')
  }
  for (const name of ['headers', 'url', 'method', 'signal', 'body'])
    Object.defineProperty(request, name, { get })
}

/** What a handler on each runtime returns, and the status that its client sees. */
const TAKEN_OVER: Readonly<Record<string, (request: Request) => Response | undefined>> = {
  Deno(request) {
    close(request)
    return withStatus(101)
  },
  Bun: () => undefined,
  Workers: () => withStatus(101),
  'a helper of Hono for Bun or Node': () => new Response(),
}

type Serve = (respond: (request: Request) => Response | undefined) => (request: Request) => Promise<Response>

function bindings({ options }: ReturnType<typeof seeing>): Readonly<Record<string, Serve>> {
  const given = { ...options, peer: 'none' } as const
  return {
    fetch: respond => onFetch.gatewright(given).protectRead('feed.open', READ, respond),
    'Next.js': respond => request =>
      onNext.gatewright(given).protectRead('feed.open', READ, respond)(request, {
        params: Promise.resolve({}),
      }),
    Hono(respond) {
      const app = new Hono()
      app.get(
        '*',
        onHono.gatewright(given).protectRead('feed.open', READ),
        c => respond(c.req.raw) as Response,
      )
      return async request => app.fetch(request)
    },
  }
}

t.test(
  'a response that takes the connection over is returned as it is, and the decision says 101',
  async t => {
    for (const binding of ['fetch', 'Next.js', 'Hono'])
      for (const [runtime, respond] of Object.entries(TAKEN_OVER)) {
        if (binding === 'Hono' && runtime === 'Bun') continue
        const world = seeing()
        const made: (Response | undefined)[] = []
        const serve = bindings(world)[binding] as Serve
        const request = new Request('http://api.test/old/1', {
          headers: handshake(`Bearer ${await world.token('payments.read')}`),
        })
        const response = await serve(given => {
          made.push(respond(given))
          return made[0]
        })(request)
        if (response?.status !== 200) t.equal(response, made[0], `${binding}, ${runtime}`)
        t.match(
          world.decisions,
          [{ status: 101, operation: 'feed.open', accountId: 'auth0|ann', traceparent: TRACE }],
          `${binding}, ${runtime}`,
        )
        t.equal(world.decisions.length, 1)
        t.same(world.failures, [], `${binding}, ${runtime}`)
      }
  },
)

t.test('a handler that returns nothing for another request is an error that says so', async t => {
  const world = seeing()
  const serve = onFetch
    .gatewright({ ...world.options, peer: 'none' })
    .protectRead('feed.open', READ, () => undefined)
  const headers = { authorization: `Bearer ${await world.token('payments.read')}` }
  await t.rejects(serve(new Request('http://api.test/', { headers })), {
    message: 'feed.open: the handler must return a Response, got nothing: a return is missing',
  })
  t.match(world.decisions, [{ status: 500 }])
})

t.test('a write that takes the connection over keeps it, and its outcome is unknown', async t => {
  const world = seeing()
  const serve = onFetch
    .gatewright({ ...world.options, peer: 'none' })
    .protectWrite('feed.create', { scope: 'payments.read' }, () => withStatus(101))
  const send = async (): Promise<Response> =>
    serve(
      new Request('http://api.test/', {
        method: 'POST',
        body: '{}',
        headers: {
          ...handshake(`Bearer ${await world.token('payments.read')}`),
          'content-type': 'application/json',
          'idempotency-key': 'key-00000001',
        },
      }),
    )
  t.equal((await send()).status, 101)
  t.equal((await send()).status, 503)
  t.match(world.decisions, [{ status: 101, outcome: 'unknown' }, { code: 'outcome_unknown' }])
})

t.test('a response that cannot be copied is returned as it is', async t => {
  const reading = new Response('one', { status: 200 })
  reading.body?.getReader()
  for (const response of [Response.error(), reading]) {
    const world = seeing()
    const serve = onFetch
      .gatewright({ ...world.options, peer: 'none' })
      .protectRead('feed.open', READ, () => response)
    const headers = { authorization: `Bearer ${await world.token('payments.read')}` }
    t.equal(await serve(new Request('http://api.test/old/1', { headers })), response)
    t.match(world.decisions, [{ status: response.status }])
  }
})

/** Waits for a decision: a server notices the end of a connection after its client. */
async function decided({ decisions }: World, count: number): Promise<void> {
  while (decisions.length < count) await new Promise(resolve => setImmediate(resolve))
}

async function listen(t: Test, server: Server): Promise<number> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
/** Answers a handshake as `ws` does, on the connection itself, and sends the first message back. */
function echo(socket: Socket): void {
  socket.write(SWITCHING)
  socket.once('data', message => socket.end(message))
}

/** Gives upgrades to a listener of requests, with a response that has its connection. */
function onUpgrade(listener: RequestListener): Server {
  const server = createServer()
  return server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    const response = new ServerResponse(request)
    response.assignSocket(socket)
    response.on('finish', () => socket.end())
    listener(request, response)
  })
}

type World = ReturnType<typeof seeing>
const NODE_SERVERS: Readonly<Record<string, (world: World) => Server>> = {
  'node:http'({ options }) {
    const protect = onNode.gatewright(options).protectRead('feed.open', READ)
    return onUpgrade((request, response) => protect(request, response, () => echo(request.socket)))
  },
  Express({ options }) {
    const app = express()
    app.get('/old/1', onExpress.gatewright(options).protectRead('feed.open', READ), ({ socket }) =>
      echo(socket),
    )
    return onUpgrade(app)
  },
  Koa({ options }) {
    const app = new Koa()
    app.use(onKoa.gatewright(options).protectRead('feed.open', READ))
    app.use(ctx => {
      ctx.respond = false
      echo(ctx.req.socket)
    })
    return onUpgrade(app.callback())
  },
}

const headOf = (headers: Record<string, string>): string =>
  `GET /old/1 HTTP/1.1\r\nHost: api\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

for (const [name, start] of Object.entries(NODE_SERVERS))
  t.test(
    `${name}: a guarded upgrade is accepted or denied before it is taken over, and decided once`,
    async t => {
      const world = seeing()
      const port = await listen(t, start(world))
      for (const [authorization, status, rest] of [
        [`Bearer ${await world.token('payments.read')}`, '101', 'hello'],
        ['Bearer forged', '401', ''],
      ] as const) {
        const client = connect(port, '127.0.0.1')
        client.write(headOf(handshake(authorization)))
        const received = text(client)
        client.once('data', () => client.write('hello'))
        const reply = await received
        t.match(reply, `HTTP/1.1 ${status} `)
        if (rest) t.ok(reply.endsWith(rest))
        await decided(world, status === '101' ? 1 : 2)
        t.match(world.decisions.at(-1), { status: Number(status), traceparent: TRACE })
      }
      t.equal(world.decisions.length, 2)
    },
  )

t.test('Fastify: the decision of a hijacked reply has the status that its handler wrote', async t => {
  const world = seeing()
  const gw = onFastify.gatewright(world.options)
  const app = Fastify()
  await app.register(gw.plugin)
  app.get('/old/1', { ...gw.protectRead('feed.open', READ) }, (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(202, { 'content-type': 'text/event-stream' })
    reply.raw.end('data: 1\n\n')
  })
  await app.ready()
  const port = await listen(t, app.server)
  const headers = { authorization: `Bearer ${await world.token('payments.read')}` }
  const response = await fetch(`http://127.0.0.1:${port}/old/1`, { headers })
  t.equal(await response.text(), 'data: 1\n\n')
  await decided(world, 1)
  t.match(world.decisions, [{ status: 202, operation: 'feed.open' }])
})
