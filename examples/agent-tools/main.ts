// A script plays a model that shops with a tool, under 50 USD a day: it hits the cap, reads why, asks its person, and goes on.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import { gatewright } from 'gatewright/fetch'
import { mcp } from 'gatewright/mcp'
import { testGateway, testSession } from 'gatewright/testing'
import { z } from 'zod'

// What the person allows. On the host it is the policy of a key.
let dailyCents = 5_000
// An identity provider in memory. Yours signs the tokens of agents, and `issuer` names it.
const gateway = testGateway({
  issuer: 'https://auth.example/',
  audience: 'https://shop.example/mcp',
  policies: () => [{ dailySpendCapCents: dailyCents }],
})
const { guardTool, handle } = mcp(gatewright({ ...gateway.options, peer: 'none' }), { peer: 'none' })

let payments = 0
const serve = handle(() => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  guardTool(
    server,
    'payments.create',
    {
      scope: 'payments.write',
      intent: { args: ['orderId'] },
      spends: args => ({ amountCents: args.amountCents, currency: 'USD' }),
    },
    {
      description: 'Pays an order, once. Use the orderId of the shop.',
      inputSchema: z.strictObject({ orderId: z.string().min(1), amountCents: z.number().int().positive() }),
    },
    ({ args }) => {
      payments++
      return { content: [{ type: 'text', text: `paid ${args.orderId}` }] }
    },
  )
  return server
})

const token = await gateway.token(testSession({ accountId: 'agent', scopes: ['payments.write'] }))
const client = new Client({ name: 'model', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
await client.connect(
  new StreamableHTTPClientTransport(new URL('https://shop.example/mcp'), {
    fetch: (url, init) => serve(new Request(url, init)),
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  }),
)

/** What the model does: it calls the tool, and reads what the tool says. Returns whether the order is paid. */
async function pay(orderId: string, amountCents: number): Promise<boolean> {
  const { content, isError } = await client.callTool({
    name: 'payments.create',
    arguments: { orderId, amountCents },
  })
  const [{ text = '' } = {}] = content as { text?: string }[]
  const said = isError
    ? (JSON.parse(text) as { error: string; message: string; remaining: number })
    : undefined
  console.log(`model: pay ${orderId}, ${(amountCents / 100).toFixed(2)} USD`)
  console.log(
    said ? `tool:  ${said.error}, ${(said.remaining / 100).toFixed(2)} USD remain today` : `tool:  ${text}`,
  )
  return !isError
}

console.log('An agent that may spend 50.00 USD a day:\n')
await pay('groceries-1', 2_000)
console.log('\nThe connection broke, and the model calls again:')
await pay('groceries-1', 2_000)
console.log('')
if (!(await pay('train-1', 4_500))) {
  console.log('model: "The train costs 15.00 USD more than I may spend today. Allow it?"')
  console.log('human: "Yes, 70.00 USD for today."\n')
  dailyCents = 7_000
  gateway.clock.advance(60_000) // a changed policy takes effect within a minute
  await pay('train-1', 4_500)
}
console.log(`\n${payments} payments for 2 orders. Next: docs/agent-tools.md.`)
await client.close()
