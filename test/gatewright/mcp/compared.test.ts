// The same tool guarded, and with the SDK alone: the table of docs/compared.md.
import { readFileSync } from 'node:fs'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import t from 'tap'
import { CAP, createWorld } from '../world.ts'
import { nthCall, untilEnded } from './agent.ts'
import { callOf, createShop, payment } from './shop.ts'

interface Tool {
  serve(request: Request): Promise<Response>
  /** How often the processor has paid. */
  payments(): number
}

/** How a tool is served, and what happens before it pays. */
type Made = (before?: () => unknown) => Tool

const guarded: Made = before => {
  const world = createWorld()
  const shop = createShop({
    world: { ...world, options: { ...world.options, limits: [] } },
    ...(before ? { before } : {}),
  })
  const token = world.token('payments.write')
  const serve = async (request: Request): Promise<Response> => {
    request.headers.set('authorization', `Bearer ${await token}`)
    return shop.serve(request)
  }
  return { serve, payments: () => world.processor.calls.length }
}

const alone: Made = before => {
  const { processor } = createWorld()
  let paidCents = 0
  const { fetch } = createMcpHandler(() => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' })
    server.registerTool(
      'payments.create',
      { description: 'Pays an order.', inputSchema: payment },
      async ({ orderId = '', amountCents }) => {
        if (paidCents + amountCents > CAP)
          return { content: [{ type: 'text', text: 'The cap of today is used up' }], isError: true }
        await before?.()
        await processor.pay(amountCents, `${orderId} ${processor.calls.length}`)
        paidCents += amountCents
        return { content: [{ type: 'text', text: `paid ${orderId}` }] }
      },
    )
    return server
  })
  return { serve: fetch, payments: () => processor.calls.length }
}

/** What an agent does, by its row of the table. */
const AGENTS: Readonly<Record<string, (made: Made) => Promise<Tool>>> = {
  async 'loses the response, and calls again with a new id'(made) {
    const tool = made()
    const lost = await tool.serve(nthCall('o', 0, 'with a new id', {}))
    await lost.body?.cancel()
    await untilEnded(() => tool.serve(nthCall('o', 1, 'with a new id', {})))
    return tool
  },
  async 'calls again with a new key in `_meta`'(made) {
    const tool = made()
    for (const nth of [0, 1]) await untilEnded(() => tool.serve(nthCall('o', nth, 'with a new key', {})))
    return tool
  },
  async 'leaves while the tool runs, and calls again'(made) {
    const abort = new AbortController()
    let isFirst = true
    const tool = made(() => {
      if (isFirst) abort.abort()
      isFirst = false
    })
    const left = new Request(nthCall('o', 0, 'with a new id', {}), { signal: abort.signal })
    await tool.serve(left).then(
      response => response.body?.cancel(),
      () => {},
    )
    await untilEnded(() => tool.serve(nthCall('o', 1, 'with a new id', {})))
    return tool
  },
  async 'calls 20 times at once'(made) {
    const tool = made()
    await Promise.all(
      Array.from({ length: 20 }, (_, nth) =>
        untilEnded(() => tool.serve(nthCall('o', nth, 'with a new id', {}))),
      ),
    )
    return tool
  },
  async 'makes 200 orders of 1 USD at once'(made) {
    let waiting = 200
    let goOn: () => void = () => {}
    const all = new Promise<void>(resolve => {
      goOn = resolve
    })
    const arrive = (): void => {
      waiting--
      if (waiting === 0) goOn()
    }
    const tool = made(() => {
      arrive()
      return all
    })
    const calls = Array.from({ length: 200 }, async (_, nth) => {
      const answer = await untilEnded(() =>
        tool.serve(callOf('payments.create', { orderId: `o-${nth}`, amountCents: 100 })),
      )
      if (answer.result?.isError) arrive()
    })
    await Promise.all(calls)
    return tool
  },
}

for (const [agent, act] of Object.entries(AGENTS)) {
  t.test(`docs/compared.md: an agent ${agent}`, async t => {
    const [withGuard, without] = [await act(guarded), await act(alone)]
    const row = `| ${agent} | ${withGuard.payments()} | ${without.payments()} |`
    t.ok(readFileSync('docs/compared.md', 'utf8').split('\n').includes(row), row)
  })
}
