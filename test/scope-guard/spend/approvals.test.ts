import type { Policy } from '@gatewright/scope-guard'
import type { Spend } from '@gatewright/scope-guard/internal'
import { memoryApprovals, memorySpends } from '@gatewright/scope-guard/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { bench, session } from '../issuer.ts'
import { approval, HOUR, NOW, payer, rule, spend } from './payer.ts'

t.test('an amount above the threshold waits until it is approved, and then is paid once', async t => {
  const { guard, own, pay, ask, used, approvals } = await payer([
    { approveAboveCents: 5000, dailySpendCapCents: 10_000 },
  ])
  t.match(
    await pay({ amountCents: 10_001 }),
    { code: 'policy_blocked', details: { rule: 'dailySpendCapCents' } },
    'nobody is asked about what a cap denies',
  )
  t.match(await pay(), {
    ok: false,
    code: 'approval_required',
    status: 403,
    details: { rule: 'approveAboveCents', policyId: 'p0', limit: 5000, requested: 6000 },
  })
  t.same(await approvals.list('acc_1'), [], 'reserve opens nothing')
  const denial = await guard.requestApproval(own, spend)
  const id = String(denial.details?.['approvalId'])
  t.match(denial, {
    code: 'approval_required',
    message:
      'A payment above 50.00 USD with this key waits until its owner has approved it: 60.00 USD requested. Send the request again, with the same Idempotency-Key, when it is approved.',
    details: {
      approveUrl: `https://pay.test/approvals/${id}`,
      operation: 'payments.create',
      payee: ['account:a'],
      amountCents: 6000,
      currency: 'USD',
      expiresAt: new Date(NOW + HOUR).toISOString(),
    },
  })
  t.equal(await ask(), id, 'asking again finds it')
  t.match(await approvals.list('acc_1'), [{ id, state: 'pending', request: { policyIds: ['p0'] } }])
  t.same(await used(), [0, 0], 'nothing is reserved')
  t.match(await approvals.approve('acc_1', id, 'owner'), { outcome: 'decided' })
  t.equal(await pay(), 'paid')
  t.equal(await pay(), 'paid', 'the same effect may reserve again after a crash')
  t.same(await used(), [0, 6000])
  t.equal(
    await pay({ amountCents: 4000, holdId: 'small' }),
    'paid',
    'an amount up to the threshold needs nobody',
  )
})

t.test('an approval is for this operation, payee, amount, currency, key and idempotency key', async t => {
  const { own, access, pay, ask, approvals } = await payer([{ approveAboveCents: 5000 }])
  await approvals.approve('acc_1', await ask(), 'owner')
  const other = await access({ keyId: 'key_2' })
  const elsewhere = { ...own, rule: { ...rule, operation: 'payments.other' } }
  t.match(await pay({ payee: 'account:b' }), { code: 'approval_required' })
  t.match(await pay({ payee: ['account:a', 'account:b'] }), { code: 'approval_required' })
  t.match(await pay({ amountCents: 6001 }), { code: 'approval_required' })
  t.match(await pay({ approval: { ...approval, requestId: 'key-2' } }), { code: 'approval_required' })
  t.match(await pay({}, other), { code: 'approval_required' })
  t.match(await pay({}, elsewhere), { code: 'approval_required' })
  t.equal(await pay(), 'paid')
})

t.test('an approval that another effect has used lets nothing be paid, and holds nothing', async t => {
  const { pay, ask, used, approvals } = await payer([{ approveAboveCents: 0, dailySpendCapCents: 20_000 }])
  await approvals.approve('acc_1', await ask(), 'owner')
  t.equal(await pay({ amountCents: 0, holdId: 'free' }), 'paid', 'an amount of 0 exceeds no threshold')
  t.equal(await pay(), 'paid')
  const before = await used()
  t.match(await pay({ holdId: 'second', approval: { ...approval, effectId: 'effect-2' } }), {
    code: 'approval_required',
  })
  t.same(await used(), before)
})

t.test('what a cap denies does not use up the approval', async t => {
  const { guard, own, pay, ask, approvals } = await payer([
    { approveAboveCents: 5000, dailySpendCapCents: 6000 },
  ])
  await approvals.approve('acc_1', await ask(), 'owner')
  const held = await guard.reserve(own, { amountCents: 1, currency: 'USD', holdId: 'one' })
  if (!held.ok) throw new Error(held.code)
  t.match(await pay(), { code: 'policy_blocked', details: { rule: 'dailySpendCapCents' } })
  await guard.release(held.value)
  t.equal(await pay(), 'paid')
})

t.test('an approval expires exactly at the instant, approved or not, and can be asked for again', async t => {
  const { clock, pay, ask, approvals } = await payer([{ approveAboveCents: 5000 }], { lifetimeSeconds: 60 })
  const id = await ask()
  await approvals.approve('acc_1', id, 'owner')
  clock.advance(60_000)
  t.match(await pay(), { code: 'approval_required' })
  t.equal(await ask(), id)
  clock.advance(59_999)
  t.match(await approvals.approve('acc_1', id, 'owner'), { outcome: 'decided' })
  t.equal(await pay(), 'paid')
})

t.test('a denied request says so until the approval would have expired', async t => {
  const { guard, own, clock, pay, ask, approvals } = await payer([{ approveAboveCents: 5000 }])
  const id = await ask()
  t.match(await approvals.deny('acc_1', id, 'owner'), { outcome: 'decided' })
  t.match(await approvals.approve('acc_1', id, 'late'), { outcome: 'already', approval: { state: 'denied' } })
  const denied = {
    code: 'approval_denied',
    message: 'The owner of this account has denied this payment.',
    details: { rule: 'approveAboveCents', approvalId: id, amountCents: 6000 },
  }
  t.match(await approvals.find('acc_1', id), { state: 'denied', decidedBy: 'owner' })
  t.match(await pay(), denied)
  t.match(await guard.requestApproval(own, spend), denied)
  clock.advance(HOUR)
  t.match(await pay(), { code: 'approval_required' })
})

t.test('the lowest threshold of the chain decides, and all that are exceeded are named', async t => {
  const { pay, ask, approvals } = await payer([
    { approveAboveCents: 5000 },
    { approveAboveCents: 1000 },
    { approveAboveCents: 9000 },
  ])
  t.match(await pay({ amountCents: 1001 }), { details: { policyId: 'p1', limit: 1000 } })
  t.equal(await pay({ amountCents: 1000 }), 'paid')
  await ask()
  t.match(await approvals.list('acc_1'), [{ request: { policyIds: ['p0', 'p1'] } }])
})

t.test('a key below never pays without an approval what the key above may not', async t => {
  const cents = fc.integer({ min: 0, max: 50 })
  await fc.assert(
    fc.asyncProperty(cents, cents, cents, async (above, below, amountCents) => {
      const parent = await payer([{ approveAboveCents: above }])
      const child = await payer([{ approveAboveCents: above }, { approveAboveCents: below }])
      const [byParent, byChild] = [await parent.pay({ amountCents }), await child.pay({ amountCents })]
      if ((byChild === 'paid') !== amountCents <= Math.min(above, below)) throw new Error('wrong threshold')
      return byChild !== 'paid' || byParent === 'paid'
    }),
    { numRuns: randomCases(50) },
  )
  t.pass()
})

t.test('a threshold changed meanwhile does not reuse an approval of other policies', async t => {
  const policies: Policy[] = [{ approveAboveCents: 5000 }, {}]
  const { access, pay, ask, approvals } = await payer(policies)
  await approvals.approve('acc_1', await ask(), 'owner')
  policies[1] = { approveAboveCents: 100 }
  const now = await access({ sessionId: 'ses_2' })
  t.match(await pay({}, now), { code: 'approval_required' }, 'the owner of the other policy was not asked')
})

t.test('an account has a bounded number of open approvals', async t => {
  const { guard, own, ask, approvals } = await payer([{ approveAboveCents: 5000 }], { mostOpen: 2 })
  const another = (n: number): Partial<Spend> => ({ approval: { ...approval, requestId: `k${n}` } })
  const first = await ask(another(1))
  await ask(another(2))
  t.match(await guard.requestApproval(own, { ...spend, ...another(3) }), {
    code: 'policy_blocked',
    message:
      'A payment above 50.00 USD with this key waits until its owner has approved it, and 2 payments of the account wait already: let some be approved or denied first.',
    details: { rule: 'approveAboveCents', mostOpen: 2 },
  })
  await approvals.deny('acc_1', first, 'owner')
  t.match(await guard.requestApproval(own, { ...spend, ...another(3) }), { code: 'approval_required' })
})

t.test('without a request, or without a store of approvals, nobody can approve it', async t => {
  const { guard, own, pay } = await payer([{ approveAboveCents: 5000 }])
  const { approval: _, ...unnamed } = spend
  const denial = await guard.reserve(own, unnamed)
  t.match(denial, { code: 'approval_required', details: { approvalId: undefined } })
  await t.rejects(guard.requestApproval(own, unnamed), TypeError)
  await t.rejects(guard.requestApproval(own, { ...spend, amountCents: 1 }), TypeError, 'nothing asks')
  t.match(await pay({ amountCents: 5000 }), 'paid')
  const bare = await bench({
    policies: async ids => ids.map(() => ({ approveAboveCents: 1 })),
    spend: memorySpends(),
  })
  t.equal(bare.guard.approvals, undefined)
  const access = await bare.guard.authorize(
    session(bare.clock.now(), { policyIds: ['p0'] }),
    { authorization: undefined },
    rule,
  )
  if (!access.ok) throw new Error(access.code)
  t.match(await bare.guard.reserve(access.value, spend), { code: 'approval_required' })
  t.match(await bare.guard.simulate(access.value.session, { authorization: undefined }, rule, spend), {
    code: 'approval_required',
  })
})

t.test('a decision about a text that is no id finds nothing', async t => {
  const { approvals } = await payer([])
  for (const id of ['', '\0', 'apr_', 'apr_x', `apr_${'a'.repeat(43)}`])
    t.same(
      [await approvals.approve('acc_1', id, 'owner'), await approvals.find('acc_1', id)],
      [{ outcome: 'gone' }, undefined],
    )
})

t.test('explain says which threshold asks', async t => {
  const { guard, own } = await payer([{ approveAboveCents: 5000 }, { approveAboveCents: 9000 }])
  const { decision, rules, lines } = await guard.explain(
    own.session,
    { authorization: undefined },
    rule,
    spend,
  )
  t.match(decision, { code: 'approval_required' })
  t.match(rules, [
    { policyId: 'p0', rule: 'approveAboveCents', outcome: 'blocks', binds: true },
    { policyId: 'p1', rule: 'approveAboveCents', outcome: 'passes', binds: false },
  ])
  t.match(lines.join('\n'), /approval above 50\.00 USD at once, 60\.00 USD\s+requested/)
})

t.test('the options of approvals are checked at start', async t => {
  const store = memoryApprovals()
  const url = () => 'https://pay.test'
  for (const wrong of [
    { store, url: 'https://pay.test' },
    { store, url, lifetimeSeconds: 0 },
    { store, url, lifetimeSeconds: 604_801 },
    { store, url, mostOpen: 0 },
    { store, url, mostOpen: 101 },
    { store, url, most: 5 },
    { url },
  ])
    await t.rejects(bench({ approvals: wrong as never }), TypeError)
  await bench({ approvals: { store, url, lifetimeSeconds: 604_800, mostOpen: 100 } })
  await bench({ approvals: { store, url, lifetimeSeconds: 1, mostOpen: 1 } })
})
