import { memorySpends } from '@gatewright/scope-guard/memory'
import type { Rule } from '@gatewright/kernel'
import t from 'tap'
import { bench, session } from './issuer.ts'

const list = { operation: 'cards.list', allOf: [] } as const satisfies Rule
const withdraw = { operation: 'withdrawals.create', allOf: [], spends: 'withdrawal' } as const satisfies Rule
const NOWHERE = { authorization: undefined }

t.test('counts a call that moves no money when it is checked, with evidence for a denial', async t => {
  const policy = { limits: [{ operations: ['cards.*'], maxCount: 1, window: 'day' }] }
  const { guard, bearer } = await bench({ policies: async () => [policy], spend: memorySpends() })
  const authorization = await bearer({ policyIds: ['p'] })
  t.match(await guard.check({ authorization }, list), { ok: true })
  t.match(await guard.check({ authorization }, list), {
    code: 'policy_blocked',
    details: { rule: 'limits', unit: 'count' },
    evidence: { operation: 'cards.list' },
  })
})

t.test('counts a call that moves money when it reserves, and not when it is checked', async t => {
  const policy = { limits: [{ operations: ['withdrawals.*'], maxCount: 1, window: 'day' }] }
  const { guard, bearer } = await bench({ policies: async () => [policy], spend: memorySpends() })
  const authorization = await bearer({ policyIds: ['p'] })
  const spend = { amountCents: 1, currency: 'USD' }
  const [first, second] = [
    await guard.check({ authorization }, withdraw),
    await guard.check({ authorization }, withdraw),
  ]
  if (!first.ok || !second.ok) return t.fail('denied')
  t.match(await guard.reserve(first.value, spend), { ok: true })
  t.match(await guard.reserve(second.value, spend), {
    code: 'policy_blocked',
    details: { rule: 'limits', unit: 'count' },
    evidence: { operation: 'withdrawals.create' },
  })
})

t.test('reads no spend store for a session whose policies count no calls', async t => {
  const reserve = async (): Promise<never> => {
    throw new Error('the store was read')
  }
  const policy = { limits: [{ operations: ['cards.*'], maxCents: 1, window: 'day' }] }
  const { guard, bearer } = await bench({
    policies: async () => [policy],
    spend: { ...memorySpends(), reserve },
  })
  t.match(await guard.check({ authorization: await bearer({ policyIds: ['p'] }) }, list), { ok: true })
})

t.test('blocks card secrets only for a rule that reveals them', async t => {
  const document = { allowCardSecrets: false }
  const { guard, bearer } = await bench({ policies: async () => [document] })
  const authorization = await bearer({ policyIds: ['p'] })
  const reveal = { ...list, cardSecrets: true }
  const blocked = { ok: false, code: 'policy_blocked', details: { rule: 'allowCardSecrets' } }
  t.match(await guard.check({ authorization }, list), { ok: true })
  t.match(await guard.check({ authorization }, reveal), blocked)
  t.match(guard.checkPolicies('acc_1', [{ id: 'p', document }], list), { ok: true })
  t.match(guard.checkPolicies('acc_1', [{ id: 'p', document }], reveal), blocked)
})

t.test('throws for policies that are checked under a wrong rule', async t => {
  const { guard } = await bench()
  t.throws(() => guard.checkPolicies('acc_1', [], { operation: 'nodot', allOf: [] }), TypeError)
  t.match(guard.checkPolicies('acc_1', [], list), { ok: true })
})

t.test('simulates as it decides: expiry, revocation, surface, scope, policy, then the amount', async t => {
  const revoked = new Set<string>()
  const isLive = async ({ sessionId }: { sessionId: string }): Promise<boolean> => !revoked.has(sessionId)
  const { guard, clock } = await bench({
    policies: async () => [{ denyOperations: ['x.*'], maxAuthAmountCents: 5, allowedIps: ['192.0.2.1'] }],
    revocation: { mode: 'strict', isLive },
  })
  const holder = session(clock.now(), { policyIds: ['p'] })
  const facts = { ...NOWHERE, address: '192.0.2.1' }
  const simulate = (rule: Rule, amountCents?: number) =>
    guard.simulate(
      holder,
      facts,
      rule,
      amountCents === undefined ? undefined : { amountCents, currency: 'USD' },
    )
  t.match(await simulate(withdraw, 5), { ok: true, value: { session: holder, rule: withdraw, headers: [] } })
  t.match(await simulate(withdraw, 6), { code: 'policy_blocked', details: { rule: 'maxAuthAmountCents' } })
  t.match(await simulate(list), { ok: true, value: { session: holder, rule: list } })
  t.match(await simulate({ ...list, operation: 'x.y' }), { details: { rule: 'denyOperations' } })
  t.match(await guard.simulate(holder, NOWHERE, list), { details: { rule: 'allowedIps' } })
  t.match(await simulate({ ...list, allOf: ['x.write'] }), { code: 'insufficient_scope' })
  t.match(await simulate({ ...list, surface: 'partner', allOf: ['x.write'] }), { code: 'wrong_surface' })
  revoked.add('ses_1')
  t.match(await simulate({ ...list, surface: 'partner' }), { code: 'unauthorized', reason: 'revoked' })
  clock.set(holder.expiresAt)
  t.match(await simulate(list), { code: 'session_expired' })
})

t.test('names all scopes that are missing, each once, and none that is held', async t => {
  const { guard, clock } = await bench()
  const missing = async (rule: Partial<Rule>, scopes: readonly string[]): Promise<unknown> => {
    const holder = session(clock.now(), { scopes })
    const verdict = await guard.authorize(holder, NOWHERE, { operation: 'a.b', ...rule } as Rule)
    return verdict.ok || verdict.details
  }
  const both = { allOf: ['a', 'b'], anyOf: ['c', 'd'] }
  t.same(await missing(both, []), { scope: 'a b c d' })
  t.same(await missing(both, ['a']), { scope: 'b c d' })
  t.same(await missing(both, ['a', 'b']), { scope: 'c d' })
  t.same(await missing(both, ['c']), { scope: 'a b' })
  for (const one of ['c', 'd']) t.equal(await missing(both, ['a', 'b', one]), true)
})
