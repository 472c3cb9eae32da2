import { Fault } from '@gatewright/kernel'
import type { GuardOptions } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import t from 'tap'
import { bench } from './issuer.ts'

const rule = { operation: 'cards.authorize', allOf: [], spends: 'spend' } as const
const never = async (): Promise<never> => {
  throw new Error('a store was read')
}

/** A guard whose stores fail the test when they are read. */
async function setUp(options: Partial<GuardOptions> = {}) {
  const { guard, clock } = await bench({ policies: never, ...options })
  const check = (...documents: unknown[]) =>
    guard.checkPolicies(
      'acc_1',
      documents.map((document, n) => ({ id: `policy_${n}`, document })),
      rule,
    )
  return { guard, clock, check }
}

t.test('allows what no policy forbids, without a session and without a store', async t => {
  const { check } = await setUp()
  t.match(check(), { ok: true, value: { session: { accountId: 'acc_1' }, rule } })
  t.match(check({ allowOperations: ['cards.*'] }, { denyOperations: ['withdrawals.*'] }), { ok: true })
})

t.test('denies what any of the policies forbids, and names the rule and the policy', async t => {
  const { check, clock } = await setUp()
  const at = (ms: number): string => new Date(clock.now() + ms).toISOString()
  for (const document of [
    { denyOperations: ['cards.authorize'] },
    { allowOperations: ['payments.*'] },
    { notBefore: at(1000) },
    { notAfter: at(-1000) },
  ]) {
    const details = { rule: Object.keys(document)[0], policyId: 'policy_1' }
    t.match(check({}, document), { ok: false, code: 'policy_blocked', status: 403, details })
  }
})

t.test('ignores allowedIps, and keeps the other members of the same policy', async t => {
  const { check } = await setUp()
  const allowedIps = ['192.0.2.1']
  t.match(check({ allowedIps }), { ok: true })
  t.match(check({ allowedIps, denyOperations: ['cards.*'] }), { details: { rule: 'denyOperations' } })
})

t.test('its access reserves under the caps of the policies, which their ids share', async t => {
  const { guard, check } = await setUp({ spend: memorySpends() })
  const reserve = async (document: object, amountCents: number) => {
    const access = check(document)
    if (!access.ok) throw new Error(access.code)
    return guard.reserve(access.value, { amountCents, currency: 'USD' })
  }
  const policy = { maxAuthAmountCents: 600, dailySpendCapCents: 1000 }
  t.match(await reserve(policy, 601), { code: 'policy_blocked', details: { rule: 'maxAuthAmountCents' } })
  const first = await reserve(policy, 600)
  t.match(first, { ok: true, value: { accountId: 'acc_1', amountCents: 600, held: true } })
  t.match(await reserve(policy, 401), { details: { rule: 'dailySpendCapCents', remaining: 400 } })
  // The same policy of the same id, without the cap on one operation.
  t.match(await reserve({ dailySpendCapCents: 1000 }, 401), { details: { rule: 'dailySpendCapCents' } })
  if (first.ok) t.equal(await guard.release(first.value), true)
  t.match(await reserve(policy, 401), { ok: true })
})

t.test('blocks a cap that nothing counts', async t => {
  const { guard, check } = await setUp()
  const access = check({ dailySpendCapCents: 1000 })
  t.equal(access.ok, true)
  if (access.ok)
    t.match(await guard.reserve(access.value, { amountCents: 1, currency: 'USD' }), {
      details: { rule: 'dailySpendCapCents' },
    })
})

t.test('a document that is not a policy is a fault', async t => {
  const { check } = await setUp()
  for (const document of [undefined, null, 'none', 5, [], { unknownMember: 1 }, { maxAuthAmountCents: -1 }])
    t.throws(() => check({}, document), { code: 'ERR_STORE_REPLY' }, JSON.stringify(document))
  t.throws(() => check(undefined), Fault)
})
