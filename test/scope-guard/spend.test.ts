import t from 'tap'
import { bench } from './issuer.ts'

const rule = { operation: 'withdrawals.create', spends: 'withdrawal' } as const

/** Passes `check` under one policy and returns a function that asks for money. */
async function spender(policy: unknown) {
  const { guard, bearer } = await bench({ policies: async () => [policy] })
  const access = await guard.check({ authorization: await bearer({ policyIds: ['p'] }) }, rule)
  if (!access.ok) throw new Error(`refused: ${access.code}`)
  return (amountCents: number, currency = 'USD') => guard.reserve(access.value, { amountCents, currency })
}

t.test('lets an amount up to maxAuthAmountCents pass and blocks one cent more', async t => {
  const reserve = await spender({ maxAuthAmountCents: 5000 })
  t.match(await reserve(5000), { ok: true, value: { accountId: 'acc_1', amountCents: 5000 } })
  t.match(await reserve(5001), {
    code: 'policy_blocked',
    status: 403,
    details: { rule: 'maxAuthAmountCents', policyId: 'p' },
  })
})

t.test('blocks another currency under a money cap, and takes it without one', async t => {
  t.match(await (await spender({ maxAuthAmountCents: 5000 }))(1, 'EUR'), { details: { rule: 'currency' } })
  t.match(await (await spender({ denyOperations: ['cards.*'] }))(1, 'EUR'), { ok: true })
})

t.test('throws for an amount that is not a whole number of cents', async t => {
  const reserve = await spender({})
  for (const amount of [-1, 0.5, NaN, Infinity, 2 ** 53]) await t.rejects(reserve(amount), TypeError)
})
