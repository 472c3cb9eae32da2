import { parsePolicy, type Policy } from '@gatewright/scope-guard'
import type { Amount } from '@gatewright/scope-guard/internal'
import { memorySpends } from '@gatewright/scope-guard/memory'
import t from 'tap'
import { bench, session } from '../issuer.ts'

const NOW = Date.UTC(2026, 10, 29, 12)
const rule = { operation: 'payments.create', allOf: [], spends: 'spend' } as const
const spend: Amount = { amountCents: 100, currency: 'USD' }

async function payer(...policies: readonly Policy[]) {
  const { guard, clock } = await bench({
    policies: async ids => ids.map(id => policies[Number(id.slice(1))]),
    spend: memorySpends(),
  })
  clock.set(NOW)
  const holder = session(NOW, { policyIds: policies.map((_, index) => `p${index}`) })
  const facts = { authorization: undefined }
  const access = await guard.authorize(holder, facts, rule)
  if (!access.ok) throw new Error(access.code)
  const details = async (amount: Amount): Promise<unknown> => {
    const hold = await guard.reserve(access.value, amount)
    const simulated = await guard.simulate(holder, facts, rule, amount)
    if (!hold.ok) {
      const { evidence: _, ...denial } = hold
      t.same(simulated, denial, 'simulate decides the same')
      return { ...denial, ...denial.details }
    }
    t.ok(simulated.ok, 'simulate decides the same')
    return true
  }
  return { guard, holder, facts, access: access.value, details }
}
const payee = (name: Amount['payee']): Amount => ({
  ...spend,
  ...(name === undefined ? {} : { payee: name }),
})

t.test('a policy with payees lets money go to these alone', async t => {
  const { details } = await payer({ payees: ['account:a', 'country:DE'] })
  t.equal(await details(payee('account:a')), true)
  t.equal(await details(payee(['merchant:m', 'country:DE'])), true, 'one of its names is listed')
  t.match(await details(payee('account:b')), {
    code: 'policy_blocked',
    rule: 'payees',
    policyId: 'p0',
    payee: 'account:b',
    allowed: 2,
    message:
      'A policy of this key allows payments to 2 payees, not to account:b. The owner of the key can add it.',
  })
  t.match(await details(payee('ACCOUNT:A')), { rule: 'payees' }, 'another spelling is another payee')
  t.match(await details(spend), { rule: 'payees', payee: undefined }, 'a spend that names none')
})

t.test('a policy with denyPayees lets money go to all others, and to none that is not named', async t => {
  const { details } = await payer({ denyPayees: ['merchant:m', 'country:RU'] })
  t.equal(await details(payee('account:a')), true)
  t.match(await details(payee(['merchant:x', 'country:RU'])), {
    rule: 'denyPayees',
    payee: ['merchant:x', 'country:RU'],
    denied: ['country:RU'],
    message: 'A policy of this key denies payments to country:RU. The owner of the key can allow them.',
  })
  t.match(await details(spend), {
    rule: 'denyPayees',
    message: 'A policy of this key lists payees, and this payment names none.',
  })
})

t.test('an empty list of payees allows none, and an empty list of denied payees denies none', async t => {
  t.match(await (await payer({ payees: [] })).details(payee('account:a')), { rule: 'payees' })
  t.equal(await (await payer({ denyPayees: [] })).details(payee('account:a')), true)
})

t.test('every policy of a chain must allow the payee, and what a chain denies stays denied', async t => {
  const { details } = await payer(
    { payees: ['account:a', 'account:b'] },
    { payees: ['account:b', 'account:c'] },
    { denyPayees: ['account:d'] },
  )
  t.equal(await details(payee('account:b')), true)
  t.match(await details(payee('account:a')), { rule: 'payees', policyId: 'p1' })
  t.match(await details(payee('account:c')), { rule: 'payees', policyId: 'p0' })
  t.match(await details(payee('account:d')), { rule: 'denyPayees', policyId: 'p2' })
})

t.test('a spend without lists needs no payee', async t => {
  const { details } = await payer({ dailySpendCapCents: 1000 })
  t.equal(await details(spend), true)
  t.equal(await details(payee('account:a')), true)
})

t.test('a payee that is no name is a wrong amount, whatever the policy says', async t => {
  const { details } = await payer({ payees: ['account:a'] }, { maxAuthAmountCents: 1 })
  const many = Array.from({ length: 17 }, (_, index) => `account:${index}`)
  for (const wrong of ['', 'x'.repeat(201), '\0', '\ud800', [], [''], many, 7, null, { to: 'a' }])
    t.match(await details(payee(wrong as never)), { code: 'invalid_request', field: 'payee' })
  t.match(await details(payee('x'.repeat(200))), { rule: 'payees' })
  t.match(await details(payee(many.slice(1))), { rule: 'payees' })
})

t.test(
  'permits looks at a payee where one is named: what is stored of an earlier spend names none',
  async t => {
    const { guard, access } = await payer({ payees: ['account:a'] })
    t.match(await guard.permits(access, spend), { ok: true })
    t.match(await guard.permits(access, payee('account:a')), { ok: true })
    t.match(await guard.permits(access, payee('account:b')), { ok: false, code: 'policy_blocked' })
  },
)

t.test('explain says of each list whether it passes, and which one binds', async t => {
  const { guard, holder, facts } = await payer({ payees: ['account:a'] }, { denyPayees: ['account:b'] })
  const explained = await guard.explain(holder, facts, rule, payee('account:b'))
  t.match(explained.rules, [
    { policyId: 'p1', rule: 'denyPayees', outcome: 'blocks', binds: true },
    { policyId: 'p0', rule: 'payees', outcome: 'blocks', binds: false },
  ])
  t.match(explained.lines.join('\n'), /denies payments to account:b/)
})

t.test('parsePolicy takes lists of at most 100 names of payees', t => {
  const names = Array.from({ length: 100 }, (_, index) => `a:${index}`)
  t.match(parsePolicy({ payees: names, denyPayees: ['x'.repeat(200)] }), { ok: true })
  t.match(parsePolicy({ payees: [...names, 'a'] }), { ok: false, field: 'payees' })
  for (const wrong of ['', 'x'.repeat(201), 'a\0', 5])
    t.match(parsePolicy({ denyPayees: ['a', wrong] }), { ok: false, field: 'denyPayees[1]' })
  t.end()
})
