// Sessions of clients of 2025-11-25 in memory: a tool asks its client while it runs, and every message passes the gate as any other.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import { gatewright } from 'gatewright/fetch'
import { mcp } from 'gatewright/mcp'
import t from 'tap'
import { z } from 'zod'
import { createWorld } from '../world.ts'
import { answerOf, callOf, denialOf, messageOf, payment, type Sent } from './shop.ts'

const MOST_OF_ONE_ACCOUNT = 16
const HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: {} },
  clientInfo: { name: 'agent', version: '1' },
}

/** A server with a guarded tool that pays, and one that asks the person before it thanks. */
function createServer({ sessionsInMemory = true, points = 1000 } = {}) {
  const world = createWorld()
  const limits = [{ name: 'perKey', points, windowSeconds: 60, per: 'key' }] as const
  const gw = gatewright({
    ...world.options,
    policy: { ...world.options.policy, approveAboveCents: 1000 },
    approvals: { url: ({ id }) => `https://shop.example/approvals/${id}` },
    limits,
    peer: 'none',
  })
  const { guardTool, handle } = mcp(gw, { peer: 'none', sessionsInMemory })
  const serve = handle(() => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' })
    guardTool(
      server,
      'payments.create',
      {
        scope: 'payments.write',
        intent: { args: ['orderId'] },
        spends: ({ amountCents }) => ({ amountCents, currency: 'USD' }),
      },
      { description: 'Pays an order.', inputSchema: payment },
      async ({ args, effectId }) => {
        await world.processor.pay(args.amountCents, effectId)
        return { content: [{ type: 'text', text: `paid ${effectId}` }] }
      },
    )
    server.registerTool(
      'ask',
      { description: 'Asks the person.', inputSchema: z.strictObject({ words: z.string() }) },
      async ({ words }, { mcpReq }) => {
        const { action } = await mcpReq.elicitInput({
          message: words,
          requestedSchema: { type: 'object', properties: {} },
        })
        return { content: [{ type: 'text', text: `${words} ${action}` }] }
      },
    )
    return server
  })
  return { world, serve: (request: Request) => serve(request, undefined) }
}

type Served = ReturnType<typeof createServer>

/** Begins a session, and returns its id: null if the server keeps none. */
async function begin({ serve }: Served, token: string, can: object = {}): Promise<string | null> {
  const hello = { ...HELLO, capabilities: { elicitation: can } }
  const response = await serve(messageOf('initialize', hello, { token, era: 'legacy' }))
  t.equal(response.status, 200)
  await response.body?.cancel()
  return response.headers.get('mcp-session-id')
}

/** Who sends a message within a session. */
const within = (id: string | null, token: string): Sent => ({
  token,
  era: 'legacy',
  headers: { 'mcp-session-id': String(id) },
})

/** A request without a message: it reads the stream of a session, or ends it. */
const bare = (method: 'GET' | 'DELETE', headers: Record<string, string>): Request =>
  new Request('http://127.0.0.1/mcp', { method, headers: { accept: 'text/event-stream', ...headers } })

/** A client of the SDK with a token, whose person answers each question so. */
async function connect({ serve }: Served, token: string, action: 'accept' | 'decline'): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler('elicitation/create', () =>
    action === 'accept' ? { action, content: {} } : { action },
  )
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    fetch: (url, options) => serve(new Request(url, options)),
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
  await client.connect(transport)
  return client
}

t.test('tools ask two clients at once, and each gets the reply of its own', async t => {
  const served = createServer()
  const ann = await connect(served, await served.world.token('payments.read'), 'accept')
  const bob = await connect(served, await served.world.token('payments.read', 'auth0|bob'), 'decline')
  const ask = async (client: Client, words: string) =>
    (await client.callTool({ name: 'ask', arguments: { words } })).content
  const said = (text: string) => [{ type: 'text', text }]
  t.same(await Promise.all([ask(ann, 'one'), ask(bob, 'two'), ask(ann, 'three')]), [
    said('one accept'),
    said('two decline'),
    said('three accept'),
  ])
  await Promise.all([ann.close(), bob.close()])
})

t.test(
  'a client that opens pages gets the error with that of an approval, another one the denial',
  async t => {
    const served = createServer()
    const token = await served.world.token('payments.write')
    const pay = async (id: string | null) =>
      answerOf(
        await served.serve(callOf('payments.create', { orderId: 'a', amountCents: 2000 }, within(id, token))),
      )
    t.match(denialOf(await pay(await begin(served, token))), { error: 'approval_required' })
    const { error } = await pay(await begin(served, token, { form: {}, url: {} }))
    t.match(error, {
      code: -32042,
      data: {
        elicitations: [
          {
            mode: 'url',
            elicitationId: /^apr_/,
            url: /^https:\/\/shop\.example\/approvals\/apr_/,
            message: /20\.00 USD/,
          },
        ],
      },
    })
    t.equal(served.world.processor.calls.length, 0)
  },
)

t.test('without the option no session begins, and a read of a stream is 405', async t => {
  const served = createServer({ sessionsInMemory: false })
  const token = await served.world.token('payments.read')
  t.equal(await begin(served, token), null)
  t.equal((await served.serve(bare('GET', { authorization: `Bearer ${token}` }))).status, 405)
})

t.test('a session takes messages of its own account and key only', async t => {
  const served = createServer()
  const id = await begin(served, await served.world.token('payments.write'))
  const others = [
    await served.world.token('payments.write', 'auth0|bob'),
    await served.world.token('payments.write', 'auth0|ann', { azp: 'another shop' }),
  ]
  for (const token of others) {
    const call = callOf('payments.create', { orderId: 'a', amountCents: 5 }, within(id, token))
    const read = bare('GET', { authorization: `Bearer ${token}`, 'mcp-session-id': String(id) })
    const end = bare('DELETE', { authorization: `Bearer ${token}`, 'mcp-session-id': String(id) })
    for (const request of [call, read, end]) {
      const response = await served.serve(request)
      t.equal(response.status, 404)
      t.match(await response.json(), { error: { code: -32001 } })
    }
  }
  t.equal(served.world.processor.calls.length, 0)
})

t.test('every message of a session needs a valid token', async t => {
  const served = createServer()
  const id = await begin(served, await served.world.token('payments.write'))
  const expired = await served.world.token('payments.write')
  served.world.options.clock.advance(900_000)
  const headers = { 'mcp-session-id': String(id) }
  t.equal((await served.serve(callOf('ask', { words: 'a' }, within(id, expired)))).status, 401)
  for (const method of ['GET', 'DELETE'] as const) {
    t.equal((await served.serve(bare(method, headers))).status, 401)
    t.equal(
      (await served.serve(bare(method, { ...headers, authorization: `Bearer ${expired}` }))).status,
      401,
    )
  }
  const renewed = await served.world.token('payments.write')
  t.equal((await served.serve(messageOf('ping', {}, within(id, renewed)))).status, 200)
})

t.test('a guarded tool asks for a missing scope, runs once for each intent and holds its cap', async t => {
  const served = createServer()
  const id = await begin(served, await served.world.token('payments.read'))
  const pay = (token: string, orderId: string, amountCents: number): Promise<Response> =>
    served.serve(callOf('payments.create', { orderId, amountCents }, within(id, token)))
  const stepUp = await pay(await served.world.token('payments.read'), 'a', 100)
  t.equal(stepUp.status, 403)
  t.match(stepUp.headers.get('www-authenticate'), 'scope="payments.write"')
  const token = await served.world.token('payments.write')
  const [first, second] = [
    await answerOf(await pay(token, 'a', 100)),
    await answerOf(await pay(token, 'a', 100)),
  ]
  t.same(first.result, second.result)
  t.equal(served.world.processor.calls.length, 1)
  t.equal(denialOf(await answerOf(await pay(token, 'b', 9_901)))['error'], 'policy_blocked')
})

t.test('the list has the tools of the scopes that its message has', async t => {
  const served = createServer()
  const id = await begin(served, await served.world.token('payments.read'))
  const names = async (scope: string) => {
    const listed = messageOf('tools/list', {}, within(id, await served.world.token(scope)))
    return (await answerOf(await served.serve(listed))).result?.tools?.map(({ name }) => name)
  }
  t.same(await names('payments.read'), ['ask'])
  t.same(await names('payments.write'), ['payments.create', 'ask'])
})

t.test('a call whose stream broke runs to its end, and a call with a new id gets its result', async t => {
  const served = createServer()
  const token = await served.world.token('payments.write')
  const id = await begin(served, token)
  const call = (n: number): Promise<Response> =>
    served.serve(callOf('payments.create', { orderId: 'a', amountCents: 5 }, { ...within(id, token), id: n }))
  await (await call(1)).body?.cancel()
  const { result } = await answerOf(await call(2))
  t.match(result?.content[0]?.text, 'paid')
  t.equal(served.world.processor.calls.length, 1)
})

t.test(
  'an account that begins one session too many, by whichever key, ends its least recently used one, and none of others',
  async t => {
    const served = createServer()
    const token = await served.world.token('payments.read')
    const anotherKey = await served.world.token('payments.read', 'auth0|ann', { azp: 'another shop' })
    const other = await served.world.token('payments.read', 'auth0|bob')
    const ping = async (id: string | null, of: string): Promise<number> => {
      const response = await served.serve(messageOf('ping', {}, within(id, of)))
      await response.body?.cancel()
      return response.status
    }
    const idOfOther = await begin(served, other)
    const ids: (string | null)[] = []
    for (let n = 0; n < MOST_OF_ONE_ACCOUNT; n++) ids.push(await begin(served, token))
    t.equal(await ping(ids[0] as string, token), 200)
    const newest = await begin(served, anotherKey)
    t.equal(await ping(ids[1] as string, token), 404)
    for (const id of [ids[0], ids[2]]) t.equal(await ping(id as string, token), 200)
    t.equal(await ping(newest, anotherKey), 200)
    t.equal(await ping(idOfOther, other), 200)
  },
)

t.test('a session ends when its client ends it', async t => {
  const served = createServer()
  const token = await served.world.token('payments.read')
  const id = await begin(served, token)
  const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': String(id) }
  t.equal((await served.serve(bare('DELETE', headers))).status, 200)
  t.equal((await served.serve(bare('DELETE', headers))).status, 404)
  t.equal((await served.serve(messageOf('ping', {}, within(id, token)))).status, 404)
})

t.test('requests without a message count under the limits of their sender', async t => {
  const served = createServer({ points: 2 })
  const token = await served.world.token('payments.read')
  const id = await begin(served, token)
  const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': String(id) }
  const stream = await served.serve(bare('GET', headers))
  t.equal(stream.status, 200)
  await stream.body?.cancel()
  t.equal((await served.serve(bare('GET', headers))).status, 429)
})
