import express from 'express'
import { gatewright } from 'gatewright/express'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { createWorld, listening } from './world.ts'

const operation = {
  scope: 'payments.write',
  body: z.object({ amountCents: z.number() }),
} as const
const amountOf = ({ amountCents }: { amountCents: number }) => ({ amountCents, currency: 'USD' })

/** Starts a server with policies of a session. Returns a function that pays for an account. */
async function started(t: Test, changes: object) {
  const world = createWorld()
  const { policy: _, ...options } = world.options
  const gw = gatewright({ ...options, ...changes })
  const app = express()
  app.post(
    '/payments',
    gw.write('payments.create', { ...operation, spends: amountOf }, () => ({ status: 201 })),
  )
  app.post(
    '/payouts',
    gw.write('payouts.create', { ...operation, withdraws: amountOf }, () => ({ status: 201 })),
  )
  const server = await listening(app.listen(0, '127.0.0.1'))
  t.teardown(() => server.close())
  let serial = 0
  const pay = async (account: string, amountCents: number, path = '/payments'): Promise<string> => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await world.token('payments.write', account)}`,
        'content-type': 'application/json',
        'idempotency-key': `payment-${++serial}`,
      },
      body: JSON.stringify({ amountCents }),
    })
    const text = await response.text()
    return `${response.status} ${text}`
  }
  return { pay, world, gw }
}

t.test('applies the policies of the session', async t => {
  const { pay } = await started(t, {
    policies: async ({ accountId }: { accountId: string }) => [
      { dailySpendCapCents: 1000 },
      ...(accountId === 'ann' ? [{ maxAuthAmountCents: 10 }] : []),
    ],
  })
  t.match(await pay('ann', 11), /^403 .*maxAuthAmountCents.*policies\[1\]/)
  t.match(await pay('ann', 10), /^201/)
  t.match(await pay('bob', 1000), /^201/)
  t.match(await pay('bob', 1), /^403 .*dailySpendCapCents.*policies\[0\]/)
})

t.test('keeps the parts reachable', async t => {
  const { gw, pay, world } = await started(t, { policy: { dailySpendCapCents: 1000 } })
  t.match(await pay('ann', 400), /^201/)
  const session = await gw.guard.authenticate({ authorization: `Bearer ${await world.token('a', 'ann')}` })
  t.ok(session.ok)
  if (session.ok) t.match(await gw.guard.caps(session.value), [{ policyId: 'everybody', used: 400 }])
  t.equal(await gw.idempotency.drained(), 0)
  const job = { operation: 'invoices.send', account: 'ann', key: 'message 1' }
  t.match(await gw.once(job, ({ effectId }) => effectId), { state: 'done', repeated: false })
  t.match(await gw.once(job, ({ effectId }) => effectId), { state: 'done', repeated: true })
  t.type(gw.gate.open, 'function')
  t.type(gw.http.aliases, 'function')
})
