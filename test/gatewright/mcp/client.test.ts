// The SDK's own client: it finds where to get a token, gets one, gets one with more scopes, and calls.
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import Router from '@koa/router'
import { localKeys } from '@gatewright/scope-guard'
import {
  Client,
  ClientCredentialsProvider,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import express from 'express'
import { gatewright } from 'gatewright/fetch'
import { mcp } from 'gatewright/mcp'
import { Hono } from 'hono'
import Koa from 'koa'
import t from 'tap'
import { z } from 'zod'
import { AUDIENCE, sign, signingKey } from '../../scope-guard/issuer.ts'
import { createWorld, listening, type Listening } from '../world.ts'
import { sent } from './agent.ts'
import { answerOf, callOf, createShop, denialOf, messageOf } from './shop.ts'

const MODES = ['auto', 'legacy'] as const

/** An authorization server that gives every client a token of the scopes that it asks for. */
async function startAuthorization(key: Awaited<ReturnType<typeof signingKey>>) {
  const asked: (string | null)[] = []
  let url = ''
  const server = createServer(
    getRequestListener(async request => {
      const { pathname } = new URL(request.url)
      if (pathname.startsWith('/.well-known/'))
        return Response.json({
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          response_types_supported: ['code'],
          grant_types_supported: ['client_credentials'],
          token_endpoint_auth_methods_supported: ['client_secret_basic'],
          jwks_uri: `${url}/keys`,
        })
      const scope = new URLSearchParams(await request.text()).get('scope')
      asked.push(scope)
      const iat = Math.floor(Date.now() / 1000)
      const claims = { iss: url, aud: AUDIENCE, sub: 'auth0|agent', azp: 'agent', scope, iat, exp: iat + 900 }
      const token = await sign(key, claims, { typ: 'JWT' })
      return Response.json({ access_token: token, token_type: 'Bearer', expires_in: 900, scope })
    }),
  )
  const { url: at, close } = await listening(server.listen(0, '127.0.0.1'))
  url = at
  return { url, asked, close }
}

for (const mode of MODES) {
  t.test(`${mode}: discovers, authorizes, steps up and calls`, async t => {
    const key = await signingKey('RS256')
    const authorization = await startAuthorization(key)
    t.teardown(() => authorization.close())
    const world = createWorld()
    const served: { shop?: ReturnType<typeof createShop> } = {}
    const server = createServer(
      getRequestListener(async request => {
        const { serve, metadata } = served.shop as ReturnType<typeof createShop>
        return new URL(request.url).pathname === '/mcp' ? serve(request) : metadata(request)
      }),
    )
    const { url, close } = await listening(server.listen(0, '127.0.0.1'))
    t.teardown(close)
    served.shop = createShop({
      world: {
        ...world,
        options: {
          ...world.options,
          issuer: authorization.url,
          clock: { ...world.options.clock, now: () => Date.now() },
          guard: { keys: localKeys({ keys: [key.jwk] }) },
        },
      },
      gate: {
        protectedResource: {
          resource: `${url}/mcp`,
          authorizationServers: [authorization.url],
          scopes: ['payments.read'],
        },
      },
    })
    const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode } })
    const authProvider = new ClientCredentialsProvider({
      clientId: 'agent',
      clientSecret: 'a secret of the agent',
      expectedIssuer: authorization.url,
    })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider }))
    t.teardown(() => client.close())
    t.same(authorization.asked, ['payments.read'])
    t.same(
      (await client.listTools()).tools.map(({ name }) => name),
      ['payments.read'],
    )
    const paid = await client.callTool({
      name: 'payments.create',
      arguments: { orderId: 'order-1', amountCents: 500 },
    })
    t.equal(paid.isError, undefined, JSON.stringify(paid))
    t.equal(authorization.asked.length, 2)
    t.same(authorization.asked[1]?.split(' ').toSorted(), ['payments.read', 'payments.write'])
    t.equal(world.processor.calls.length, 1)
    const tooMuch = await client.callTool({
      name: 'payments.create',
      arguments: { orderId: 'order-2', amountCents: 100_000 },
    })
    t.equal(tooMuch.isError, true)
    const tip = {
      name: 'tips.create',
      arguments: { amountCents: 1 },
      _meta: { 'idempotency-key': 'one-tip-only' },
    }
    const tipped = await client.callTool(tip)
    t.same(await client.callTool(tip), tipped, 'a client that checks results accepts the repeat')
    t.equal(world.processor.calls.length, 2)
  })

  t.test(`${mode}: over a pipe a call has the token of the process, and no scope is a result`, async t => {
    const world = createWorld()
    const { tools, makeServer } = createShop({ world })
    let token = await world.token('payments.write')
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    const served = serveStdio(
      tools.local(makeServer, () => token),
      { transport: theirs },
    )
    t.teardown(() => served.close())
    const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(ours)
    t.teardown(() => client.close())
    t.same(
      (await client.listTools()).tools.map(({ name }) => name),
      ['payments.create'],
    )
    const call = { name: 'payments.create', arguments: { orderId: 'o-1', amountCents: 100 } }
    const first = await client.callTool(call)
    t.equal(first.isError, undefined, JSON.stringify(first))
    t.same((await client.callTool(call)).content, first.content)
    t.equal(world.processor.calls.length, 1)
    token = await world.token('other.scope')
    const denied = await client.callTool(call)
    t.match(denialOf({ id: 1, result: denied as never }), {
      error: 'insufficient_scope',
      scope: 'payments.write',
      next: String,
    })
    token = 'no.token.atall'
    t.match(denialOf({ id: 1, result: (await client.callTool(call)) as never }), { error: 'unauthorized' })
    t.equal(world.processor.calls.length, 1)
  })
}

type Serve = (request: Request) => Promise<Response>
const MOUNTS: Readonly<Record<string, (serve: Serve) => Promise<Listening>>> = {
  Express: serve => listening(express().all('/mcp', getRequestListener(serve)).listen(0, '127.0.0.1')),
  Koa(serve) {
    const listener = getRequestListener(serve)
    const router = new Router().all('/mcp', ctx => {
      ctx.respond = false
      return listener(ctx.req, ctx.res)
    })
    return listening(new Koa().use(router.routes()).listen(0, '127.0.0.1'))
  },
  Hono(serve) {
    const app = new Hono().all('/mcp', context => serve(context.req.raw))
    return listening(createServer(getRequestListener(app.fetch)).listen(0, '127.0.0.1'))
  },
  'node:http': serve => listening(createServer(getRequestListener(serve)).listen(0, '127.0.0.1')),
}

for (const [name, mount] of Object.entries(MOUNTS)) {
  t.test(`${name}: both revisions of the protocol are served, and other methods are not`, async t => {
    const { world, serve } = createShop()
    const { url, close } = await mount(serve)
    t.teardown(close)
    const token = await world.token('payments.read payments.write')
    for (const era of ['modern', 'legacy'] as const) {
      const args = { orderId: `order-${era}`, amountCents: 1 }
      const call = async () => answerOf(await sent(url, callOf('payments.create', args, { token, era })))
      const first = await call()
      t.equal(first.result?.isError, undefined)
      t.same(await call(), first)
    }
    t.equal(world.processor.calls.length, 2)
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(`${url}/mcp`, { method, headers: { authorization: `Bearer ${token}` } })
      t.equal(response.status, 405, method)
      await response.body?.cancel()
    }
  })
}

t.test('on Workers, a call whose client has left is kept running until it is recorded', async t => {
  const world = createWorld()
  const kept: Promise<unknown>[] = []
  let pay: () => void = () => {}
  const started = new Promise<void>(resolve => {
    pay = resolve
  })
  let goOn: () => void = () => {}
  const before = async (): Promise<void> => {
    pay()
    await new Promise<void>(resolve => {
      goOn = resolve
    })
  }
  const { serve } = createShop({ world, before, waitUntil: work => kept.push(work) })
  const token = await world.token('payments.write')
  const abort = new AbortController()
  const call = callOf('payments.create', { orderId: 'o-1', amountCents: 5 }, { token })
  void serve(new Request(call, { signal: abort.signal })).catch(() => {})
  await started
  abort.abort()
  goOn()
  await Promise.all(kept)
  t.equal(world.processor.calls.length, 1)
  const again = serve(callOf('payments.create', { orderId: 'o-1', amountCents: 5 }, { token, id: 2 }))
  t.match((await answerOf(await again)).result?.content[0]?.text, /^paid /)
  t.equal(world.processor.calls.length, 1)
})

t.test('fields and members that disagree are refused before the tool, as the specification says', async t => {
  const { world, serve } = createShop()
  const token = await world.token('payments.write')
  const args = { orderId: 'o', amountCents: 1 }
  const refused = async (request: Request, status: number, code: number): Promise<void> => {
    const response = await serve(request)
    t.equal(response.status, status)
    t.equal((await answerOf(response)).error?.code, code)
  }
  await refused(
    callOf('payments.create', args, { token, headers: { 'mcp-name': 'payments.read' } }),
    400,
    -32020,
  )
  await refused(
    callOf('payments.create', args, { token, headers: { 'mcp-method': 'tools/list' } }),
    400,
    -32020,
  )
  await refused(
    callOf('payments.create', args, { token, headers: { 'mcp-protocol-version': '2025-11-25' } }),
    400,
    -32020,
  )
  await refused(messageOf('tools/unknown', {}, { token }), 404, -32601)
  t.match((await answerOf(await serve(callOf('no.tool', {}, { token })))).error, { code: -32602 })
  const foreign = await serve(
    callOf('payments.create', args, { token, headers: { origin: 'https://evil.example' } }),
  )
  t.equal(foreign.status, 403)
  t.equal(world.processor.calls.length, 0)
})

t.test('a wrong declaration of a tool is a TypeError that says what to write', async t => {
  const gw = gatewright({ ...createWorld().options, peer: 'none' })
  const { guardTool } = mcp(gw, { peer: 'none' })
  const { makeServer } = createShop()
  const texts = { description: 'x', inputSchema: z.strictObject({ orderId: z.string() }) }
  const wrong = (options: object, message: RegExp, given: object = texts): void =>
    void t.throws(
      () => guardTool(makeServer(), 'a.tool', options as never, given as never, () => ({ content: [] })),
      { name: 'TypeError', message },
    )
  wrong({ scope: [] }, /^a.tool: intent must be .* read: true/)
  wrong({ scope: [], intent: {} }, /^a.tool: intent must be/)
  wrong({ scope: [], intent: { args: [] } }, /^a.tool: intent must be/)
  wrong({ scope: [], intent: { args: ['orderld'] } }, /^a.tool: intent names the argument orderld/)
  wrong({ scope: [], intent: { meta: '' } }, /^a.tool: intent.meta must be/)
  wrong({ scope: [], intent: { key: 'x' } }, /^a.tool: intent must be/)
  wrong({ scope: [], read: true, intent: { meta: 'k' } }, /^a.tool: a tool with read: true/)
  wrong({ intent: { meta: 'k' } }, /^a.tool: name the scope/)
  wrong(
    { scope: [], intent: { meta: 'k' }, spend: 1 },
    /^a.tool: unknown option "spend", did you mean spends/,
  )
  wrong({ scope: [], read: true }, /^a.tool: inputSchema must be/, { description: 'x', inputSchema: {} })
  wrong(
    {
      scope: [],
      intent: { meta: 'k' },
      transaction: true,
      spends: () => ({ amountCents: 1, currency: 'USD' }),
    },
    /^a.tool: with transaction: true write spends: 'spend'/,
  )
})

t.test('a tool of a server that nobody guards does not run', async t => {
  const { makeServer, world } = createShop()
  const { fetch } = createMcpHandler(makeServer)
  const answer = await answerOf(await fetch(callOf('payments.create', { orderId: 'o', amountCents: 1 })))
  t.equal(answer.result?.isError, true)
  t.equal(world.processor.calls.length, 0)
})
