// Every message of a caller counts under the rate limits once: calls of guarded tools, and all others.
import type { LimitOptions } from '@gatewright/scope-guard'
import { McpServer } from '@modelcontextprotocol/server'
import { gatewright } from 'gatewright/fetch'
import { mcp } from 'gatewright/mcp'
import t from 'tap'
import { z } from 'zod'
import { createWorld, type World } from '../world.ts'
import { callOf, messageOf, type Sent } from './shop.ts'

const perKey = { name: 'perKey', points: 3, windowSeconds: 60, per: 'key' } as const

/** A server with one guarded tool and one that is not, under limits, which notes the calls of the latter. */
function limited(world: World, limits: readonly LimitOptions[], options: object = {}) {
  const gw = gatewright({ ...world.options, limits, peer: () => '192.0.2.1', ...options })
  const { guardTool, handle } = mcp(gw, { peer: () => '192.0.2.1' })
  const calls: string[] = []
  const serve = handle(() => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' })
    const texts = { description: 'Says hello.', inputSchema: z.strictObject({}) }
    const hello = { content: [{ type: 'text' as const, text: 'hello' }] }
    guardTool(server, 'hello.read', { scope: 'payments.read', read: true }, texts, () => hello)
    server.registerTool('open', texts, () => {
      calls.push('open')
      return hello
    })
    server.registerResource('words', 'shop://words', {}, ({ href }) => ({
      contents: [{ uri: href, text: 'hello' }],
    }))
    return server
  })
  return { calls, serve: (request: Request) => serve(request, undefined) }
}

/** Messages of both eras. */
const MESSAGES: Readonly<Record<string, (sent: Sent) => Request>> = {
  'a list of tools': sent => messageOf('tools/list', {}, sent),
  'a list of resources': sent => messageOf('resources/list', {}, sent),
  'a call of a tool that is not guarded': sent => callOf('open', {}, sent),
  'a call of a tool that is guarded': sent => callOf('hello.read', {}, sent),
}
/** Messages of one era. */
const ONLY: Readonly<Record<'modern' | 'legacy', Readonly<Record<string, (sent: Sent) => Request>>>> = {
  modern: { discover: sent => messageOf('server/discover', {}, sent) },
  legacy: {
    ping: sent => messageOf('ping', {}, sent),
    initialize: sent =>
      messageOf(
        'initialize',
        {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'agent', version: '1' },
        },
        sent,
      ),
  },
}

for (const era of ['modern', 'legacy'] as const) {
  for (const [name, make] of Object.entries({ ...MESSAGES, ...ONLY[era] }))
    t.test(`${era}: ${name} counts once under the limit of its key`, async t => {
      const world = createWorld()
      const { serve } = limited(world, [perKey])
      const token = await world.token('payments.read')
      for (let left = 2; left >= 0; left--) {
        const response = await serve(make({ token, era }))
        t.equal(response.status, 200)
        t.match(response.headers.get('ratelimit'), `"perKey";r=${left};`)
        await response.body?.cancel()
      }
      const denied = await serve(make({ token, era }))
      const isCall = name === 'a call of a tool that is guarded'
      t.equal(denied.status, isCall ? 200 : 429)
      t.match(await denied.text(), 'rate_limited')
      if (!isCall) t.equal(denied.headers.get('retry-after'), '60')
      world.options.clock.advance(60_000)
      t.equal((await serve(make({ token: await world.token('payments.read'), era }))).status, 200)
    })

  t.test(`${era}: all messages share the limit, also one of the address`, async t => {
    for (const per of ['key', 'account', 'address'] as const) {
      const world = createWorld()
      const { serve, calls } = limited(world, [{ ...perKey, per }])
      const token = await world.token('payments.read')
      const statuses: number[] = []
      for (const make of Object.values(MESSAGES)) {
        const response = await serve(make({ token, era }))
        statuses.push(response.status)
        await response.body?.cancel()
      }
      t.same(statuses, [200, 200, 200, 200], per)
      t.equal((await serve(callOf('open', {}, { token, era }))).status, 429, per)
      t.same(calls, ['open'], `${per}: the tool did not run`)
    }
  })

  t.test(`${era}: a limit of a class does not count them, and no policy denies them`, async t => {
    const world = createWorld()
    const { serve } = limited(world, [{ ...perKey, classes: ['money'] }], {
      policy: { allowOperations: ['hello.read'] },
      gate: { hint: false },
    })
    const token = await world.token('payments.read')
    for (let nth = 0; nth < 5; nth++)
      t.equal((await serve(messageOf('tools/list', {}, { token, era }))).status, 200)
  })

  t.test(`${era}: without the store of the limits nothing is served`, async t => {
    const world = createWorld()
    const down = { consume: () => Promise.reject(new Error('the store is down')) }
    const { serve, calls } = limited(world, [{ ...perKey, store: () => down } as never], {
      gate: { report: () => {} },
    })
    const token = await world.token('payments.read')
    const response = await serve(callOf('open', {}, { token, era }))
    t.equal(response.status, 503)
    t.same(calls, [])
  })
}
