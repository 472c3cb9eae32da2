import express from 'express'
import { gatewright } from 'gatewright/express'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { createWorld, LARGEST_PAID, listening } from './world.ts'

const url = ({ id }: { readonly id: string }): string => `https://pay.test/approvals/${id}`

/** Starts a server whose payments above 10 USD must be approved. Returns a function that pays. */
async function started(t: Test) {
  const world = createWorld()
  const policy = { approveAboveCents: 1000, dailySpendCapCents: 10_000 }
  const gw = gatewright({ ...world.options, policy, approvals: { url, lifetimeSeconds: 600 } })
  const app = express()
  const body = z.object({ amountCents: z.number() })
  app.post(
    '/payments',
    gw.write(
      'payments.create',
      {
        scope: 'payments.write',
        body,
        spends: ({ amountCents }) => ({ amountCents, currency: 'USD', payee: 'shop' }),
      },
      async ({ body: { amountCents }, effectId }) => ({
        status: (await world.processor.pay(amountCents, effectId)) === 'paid' ? 201 : 402,
      }),
    ),
  )
  app.post(
    '/invoices',
    gw.write(
      'invoices.pay',
      { scope: 'payments.write', body, spends: 'spend' },
      async ({ body: { amountCents }, reserve }) => {
        const hold = await reserve({ amountCents, currency: 'USD' })
        if (!hold.ok) return hold
        hold.value.settle()
        return { status: 201 }
      },
    ),
  )
  const server = await listening(app.listen(0, '127.0.0.1'))
  t.teardown(() => server.close())
  const pay = async (amountCents: number, key: string, path = '/payments') => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await world.token('payments.write')}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ amountCents }),
    })
    const text = await response.text()
    return { status: response.status, body: JSON.parse(text || '{}') as Record<string, unknown> }
  }
  const { approvals } = gw.guard
  if (!approvals) throw new Error('the server has approvals')
  return { pay, approvals, world }
}

for (const path of ['/payments', '/invoices'])
  void t.test(`${path}: a write above the threshold waits for its approval, and runs once`, async t => {
    const { pay, approvals, world } = await started(t)
    t.match(await pay(1000, 'payment-0', path), { status: 201 })
    const asked = await pay(2000, 'payment-1', path)
    const id = String(asked.body['approvalId'])
    t.match(asked, {
      status: 403,
      body: { error: 'approval_required', approveUrl: url({ id }), amountCents: 2000 },
    })
    t.match(await pay(2000, 'payment-1', path), { body: { approvalId: id } })
    const [open] = await approvals.list('auth0|ann')
    t.match(open, { id, state: 'pending', request: { keyId: 'shop', amountCents: 2000 } })
    await approvals.approve('auth0|ann', id, 'ann')
    t.match(await pay(2000, 'payment-1', path), { status: 201 })
    t.match(await pay(2000, 'payment-1', path), { status: 201 }, 'a replay')
    t.match(await pay(2000, 'payment-2', path), { status: 403, body: { error: 'approval_required' } })
    if (path === '/payments') t.equal(world.processor.calls.length, 2)
  })

t.test('a payment that fails without an effect may be tried again under its approval', async t => {
  const { pay, approvals } = await started(t)
  const { body } = await pay(LARGEST_PAID + 1, 'payment-1')
  await approvals.approve('auth0|ann', String(body['approvalId']), 'ann')
  t.match(await pay(LARGEST_PAID + 1, 'payment-1'), { status: 402 })
  t.match(await pay(LARGEST_PAID + 1, 'payment-1'), { status: 402 })
})

t.test('a policy with a threshold is refused at start where nobody can approve', async t => {
  const { options } = createWorld()
  const policy = { approveAboveCents: 1000 }
  t.throws(() => gatewright({ ...options, policy }), {
    name: 'TypeError',
    message: /approveAboveCents, so somebody must be able to approve: give approvals/,
  })
  const limits = [{ operations: ['payments.*'], window: 'day', approveAboveCents: 1000 }] as const
  t.throws(() => gatewright({ ...options, policy: { limits } }), /somebody must be able to approve/)
  const { approvals: _, ...store } = options.store
  t.throws(() => gatewright({ ...options, policy, store, approvals: { url } }), {
    name: 'TypeError',
    message: /approvals needs a store with approvals/,
  })
  t.throws(() => gatewright({ ...options, guard: { approvals: { url } } } as never), TypeError)
  t.throws(() => gatewright({ ...options, approvals: { url, lifetimeSeconds: 604_801 } }), TypeError)
})
