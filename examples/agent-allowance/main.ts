// An agent that may pay up to 50 USD a day, 25 USD at once, and no casino, and asks its owner above 20 USD. Whatever it tries, the policy holds.
import type { AddressInfo } from 'node:net'
import express from 'express'
import { gatewright } from 'gatewright/express'
import { testGateway, testSession } from 'gatewright/testing'
import { z } from 'zod'

// An identity provider in memory. Yours signs the tokens of agents, and `issuer` names it.
const gateway = testGateway({
  issuer: 'https://auth.example/',
  audience: 'https://payments.example',
  policy: {
    dailySpendCapCents: 5_000,
    maxAuthAmountCents: 2_500,
    approveAboveCents: 2_000,
    denyPayees: ['Casino'],
  },
})
// Where the owner decides, a page of yours. Here the script is the owner, too.
const gw = gatewright({ ...gateway.options, approvals: { url: () => 'https://payments.example/approvals' } })
const pay = gw.write(
  'payments.create',
  {
    scope: 'payments.write',
    body: z.object({ amountCents: z.number().int().positive(), shop: z.string().min(1).max(60) }),
    spends: body => ({ amountCents: body.amountCents, currency: 'USD', payee: body.shop }),
  },
  ({ body, effectId }) => ({ status: 201, body: { id: effectId, shop: body.shop } }),
)
const server = express().post('/payments', pay).listen(0, '127.0.0.1')
await new Promise(resolve => server.once('listening', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/payments`

const token = await gateway.token(testSession({ accountId: 'agent', scopes: ['payments.write'] }))
let orders = 0

/** What the agent does: it asks to pay, and reads why not. The same order has the same idempotency key. */
async function agentPays(shop: string, amountCents: number, order = ++orders): Promise<void> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `order-${String(order).padStart(4, '0')}`,
    },
    body: JSON.stringify({ amountCents, shop }),
  })
  const { error = '', message = '' } = (await reply.json()) as { error?: string; message?: string }
  const amount = (amountCents / 100).toFixed(2).padStart(6)
  const refused = error === 'approval_required' ? 'waits' : 'refused'
  console.log(
    `${shop.padEnd(10)} ${amount} USD  ${reply.status === 201 ? 'paid' : `${refused}\n    ${message}`}`,
  )
}

/** What the owner of the account does: approves each payment that waits. */
async function ownerApproves(): Promise<void> {
  for (const { id, request } of (await gw.guard.approvals?.list('agent')) ?? []) {
    await gw.guard.approvals?.approve('agent', id, 'the owner')
    console.log(
      `The owner approves ${request.payee.join()} for ${(request.amountCents / 100).toFixed(2)} USD.`,
    )
  }
}

console.log('An agent that may pay 50.00 USD a day, 25.00 USD at once, and no casino:\n')
await agentPays('Groceries', 2_000)
await agentPays('Laptop', 90_000)
await agentPays('Train', 2_500)
await ownerApproves()
await agentPays('Train', 2_500, orders)
await agentPays('Dinner', 1_000)
await agentPays('Casino', 500)
await agentPays('Coffee', 500)
console.log('\nNext: change the policy in examples/agent-allowance/main.ts, or read docs/policies.md.')
server.close()
