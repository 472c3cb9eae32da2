import { Fault } from '@gatewright/kernel'
import { memorySpends } from '@gatewright/scope-guard/memory'
import type { SessionPolicies } from '@gatewright/scope-guard/internal'
import t from 'tap'
import { bench, session } from '../issuer.ts'

const rule = { operation: 'payments.create', allOf: [], spends: 'spend' } as const

/** Checks a request of an account and reserves an amount. Returns `held`, or the rule that blocked it. */
async function spend(
  { guard, bearer }: Awaited<ReturnType<typeof bench>>,
  accountId: string,
  amountCents: number,
  policyIds: readonly string[] = [],
): Promise<string> {
  const access = await guard.check({ authorization: await bearer({ accountId, policyIds }) }, rule)
  if (!access.ok) return JSON.stringify(access.details)
  const hold = await guard.reserve(access.value, { amountCents, currency: 'USD' })
  return hold.ok ? 'held' : JSON.stringify(hold.details)
}

const capOf =
  (dailySpendCapCents: number): SessionPolicies =>
  () => [{ id: 'everybody', document: { dailySpendCapCents } }]

t.test('applies the same policy to every account, and counts each account by itself', async t => {
  const made = await bench({ sessionPolicies: capOf(100), spend: memorySpends() })
  t.equal(await spend(made, 'a', 100), 'held')
  t.match(await spend(made, 'a', 1), /dailySpendCapCents.*everybody/)
  t.equal(await spend(made, 'b', 100), 'held')
})

t.test('applies them beside the policies that a token names', async t => {
  const made = await bench({
    policies: async ids => ids.map(() => ({ maxAuthAmountCents: 10 })),
    sessionPolicies: async ({ accountId }) => [{ id: accountId, document: { dailySpendCapCents: 15 } }],
    spend: memorySpends(),
  })
  t.match(await spend(made, 'a', 11, ['pol_token']), /maxAuthAmountCents/)
  t.equal(await spend(made, 'a', 10, ['pol_token']), 'held')
  t.match(await spend(made, 'a', 10, ['pol_token']), /dailySpendCapCents/)
})

t.test('refuses two different policies of one id, of which only one would bind', async t => {
  const cap = { id: 'everybody', document: { dailySpendCapCents: 10 } }
  const other = { id: 'everybody', document: { maxAuthAmountCents: 10_000 } }
  const refused = { code: 'ERR_STORE_REPLY', message: /two different policies have the id everybody/ }
  const twice = await bench({ sessionPolicies: () => [cap, other], spend: memorySpends() })
  await t.rejects(spend(twice, 'a', 1), refused)
  const beside = await bench({
    policies: async ids => ids.map(() => cap.document),
    sessionPolicies: () => [other],
    spend: memorySpends(),
  })
  await t.rejects(spend(beside, 'a', 1, ['everybody']), refused)
})

t.test('counts a policy once that both sources return', async t => {
  const cap = { id: 'everybody', document: { dailySpendCapCents: 10 } }
  const made = await bench({
    policies: async ids => ids.map(() => cap.document),
    sessionPolicies: () => [cap, cap],
    spend: memorySpends(),
  })
  t.equal(await spend(made, 'a', 10, ['everybody']), 'held')
  t.match(await spend(made, 'a', 1, ['everybody']), /dailySpendCapCents/)
})

t.test('keeps the counter of an id whose document changes', async t => {
  let cap = 100
  const made = await bench({
    sessionPolicies: () => [{ id: 'everybody', document: { dailySpendCapCents: cap } }],
    spend: memorySpends(),
  })
  t.equal(await spend(made, 'a', 100), 'held')
  cap = 150
  made.clock.advance(60_000)
  t.match(await spend(made, 'a', 51), /dailySpendCapCents/)
  t.equal(await spend(made, 'a', 50), 'held')
})

t.test('lists their caps, and simulates with them', async t => {
  const made = await bench({ sessionPolicies: capOf(100), spend: memorySpends() })
  const owner = session(made.clock.now())
  t.match(await made.guard.caps(owner), [{ policyId: 'everybody' }])
  const verdict = await made.guard.simulate(owner, { authorization: undefined }, rule, {
    amountCents: 101,
    currency: 'USD',
  })
  t.equal(verdict.ok, false)
})

t.test(
  'is a fault while the policies are unavailable, malformed or without an id, and never a yes',
  async t => {
    const wrong: Record<string, SessionPolicies> = {
      throws: () => {
        throw new Error('database is locked')
      },
      rejects: async () => Promise.reject(new Error('database is locked')),
      'no list': () => undefined as never,
      'no id': () => [{ document: {} }] as never,
      'null in the list': () => [null] as never,
      'not a policy': () => [{ id: 'a', document: { dailySpendCap: 1 } }],
    }
    for (const [name, sessionPolicies] of Object.entries(wrong)) {
      const { guard, bearer } = await bench({ sessionPolicies })
      await t.rejects(guard.check({ authorization: await bearer() }, rule), Fault, name)
    }
  },
)
