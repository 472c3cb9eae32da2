// `approveAboveCents` of a limit: above that sum of a window, a spend waits for its owner.
import type { Policy } from '@gatewright/scope-guard'
import type { Spend } from '@gatewright/scope-guard/internal'
import { race } from '@gatewright/kernel/testing'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { HOUR, NOW, payer, rule } from './payer.ts'

const perDay = (approveAboveCents: number): Policy => ({
  limits: [{ operations: ['payments.*'], window: 'day', approveAboveCents }],
})

/** A spend by a request of its own. */
const order = (name: string, amountCents = 6000): Partial<Spend> => ({
  amountCents,
  holdId: name,
  approval: { requestId: name, effectId: name },
})

t.test(
  'a spend above the sum of a day waits, counts once it is approved, and the next day asks anew',
  async t => {
    const { guard, own, pay, ask, used, approvals, clock } = await payer([perDay(10_000)])
    t.equal(await pay(order('one')), 'paid')
    t.match(await pay(order('two')), {
      code: 'approval_required',
      message:
        'A payment above 100.00 USD a day with this key waits until its owner has approved it: 40.00 USD left, 60.00 USD requested.',
      details: {
        rule: 'approveAboveCents',
        policyId: 'p0',
        window: 'day',
        limit: 10_000,
        remaining: 4000,
        requested: 6000,
        resetsAt: '2026-11-30T00:00:00.000Z',
      },
    })
    t.same(await used(), [6000], 'nothing is reserved')
    t.equal(await pay(order('exact', 4000)), 'paid', 'up to the threshold nobody is asked')
    await approvals.approve('acc_1', await ask(order('two')), 'owner')
    t.equal(await pay(order('two')), 'paid')
    t.same(await used(), [16_000], 'what was approved counts')
    t.equal(await pay(order('two')), 'paid', 'the same effect may reserve again after a crash')
    t.same(await used(), [16_000])
    t.match(await pay(order('cent', 1)), { code: 'approval_required', details: { remaining: 0 } })
    const { rules, lines } = await guard.explain(own.session, { authorization: undefined }, rule, {
      amountCents: 1,
      currency: 'USD',
    })
    t.match(rules, [{ rule: 'approveAboveCents', outcome: 'blocks', binds: true }])
    t.match(lines.join(' '), /0\.00 USD left of 100\.00 USD a day without\s+an approval/)
    clock.set(NOW + 12 * HOUR)
    t.equal(await pay(order('cent', 1)), 'paid')
  },
)

t.test('a threshold of one kind of operation asks about each of these alone', async t => {
  const { own, pay, guard } = await payer([
    { limits: [{ operations: ['bills.*'], window: 'operation', approveAboveCents: 5000 }] },
  ])
  t.equal(await pay(order('payment')), 'paid')
  const bill = { ...own, rule: { ...rule, operation: 'bills.pay' } }
  const reserve = (amountCents: number) => guard.reserve(bill, { amountCents, currency: 'USD' })
  t.match(await reserve(5001), { code: 'approval_required', details: { window: 'operation', limit: 5000 } })
  t.match([await reserve(5000), await reserve(5000)], [{ ok: true }, { ok: true }])
})

t.test('spends at once never pass below a threshold together', async t => {
  const { pay, used } = await payer([perDay(10_000)])
  const results = await race(20, index => pay(order(`order ${index}`, 3000)))
  t.equal(results.filter(result => result === 'paid').length, 3)
  t.same(await used(), [9000])
})

t.test('approved spends at once are each paid, and caps bind them', async t => {
  const { pay, ask, used, approvals } = await payer([{ ...perDay(1000), dailySpendCapCents: 20_000 }])
  const names = Array.from({ length: 6 }, (_, index) => `order ${index}`)
  for (const name of names) await approvals.approve('acc_1', await ask(order(name)), 'owner')
  const results = await race(6, index => pay(order(names[index] as string)))
  t.equal(results.filter(result => result === 'paid').length, 3)
  t.same(new Set(await used()), new Set([18_000]))
  const denied = results.filter(result => result !== 'paid')
  t.match(denied, [{ code: 'policy_blocked', details: { rule: 'dailySpendCapCents' } }, {}, {}])
  const paidLater = names[results.findIndex(result => result !== 'paid')] as string
  t.match(
    await pay(order(paidLater, 2000)),
    { code: 'approval_required' },
    'another amount is another request',
  )
})

t.test('a threshold of another policy that is reached meanwhile is asked about, too', async t => {
  const { pay, ask, approvals } = await payer([perDay(10_000), perDay(20_000)])
  await pay(order('one', 9000))
  const id = await ask(order('two'))
  t.match(await approvals.list('acc_1'), [{ request: { policyIds: ['p0'] } }])
  await approvals.approve('acc_1', id, 'owner')
  const filling = order('filling', 8000)
  await approvals.approve('acc_1', await ask(filling), 'owner')
  t.equal(await pay(filling), 'paid')
  t.match(await pay(order('two')), { code: 'approval_required', details: { policyId: 'p0' } })
  const both = await ask(order('two'))
  t.not(both, id, 'whoever the other policy binds did not decide')
  t.match(await approvals.find('acc_1', both), { request: { policyIds: ['p0', 'p1'] } })
})

t.test(
  'a request that asks after the window has room again is told to try again, and opens nothing',
  async t => {
    const { guard, own, pay, approvals } = await payer([perDay(10_000)])
    const held = await guard.reserve(own, { amountCents: 9000, currency: 'USD', holdId: 'first' })
    if (!held.ok) throw new Error(held.code)
    const two: Spend = { currency: 'USD', amountCents: 6000, ...order('two') }
    t.match(await pay(two), { code: 'approval_required' })
    await guard.release(held.value)
    t.match(await guard.requestApproval(own, two), {
      code: 'approval_required',
      details: { approvalId: undefined },
    })
    t.same(await approvals.list('acc_1'), [])
    t.equal(await pay(two), 'paid')
  },
)

t.test('what is paid, is asked about and counts is what a plain sum says, whatever is approved', async t => {
  const step = fc.record({ amountCents: fc.integer({ min: 0, max: 40 }), approves: fc.boolean() })
  const cents = fc.integer({ min: 0, max: 100 })
  await fc.assert(
    fc.asyncProperty(cents, cents, fc.array(step, { maxLength: 12 }), async (threshold, cap, steps) => {
      const { pay, ask, used, approvals } = await payer([{ ...perDay(threshold), dailySpendCapCents: cap }])
      let sum = 0
      for (const [at, { amountCents, approves }] of steps.entries()) {
        const one = order(`order ${at}`, amountCents)
        const fits = sum + amountCents <= cap
        const asks = sum + amountCents > threshold
        const first = await pay(one)
        const expected = !fits ? 'policy_blocked' : asks ? 'approval_required' : 'paid'
        if ((first === 'paid' ? first : first.code) !== expected)
          throw new Error(`step ${at}: not ${expected}`)
        if (expected === 'approval_required' && approves) {
          await approvals.approve('acc_1', await ask(one), 'owner')
          if ((await pay(one)) !== 'paid') throw new Error(`step ${at}: approved, not paid`)
        }
        if (fits && (!asks || approves)) sum += amountCents
        if ((await used()).some(each => each !== sum)) throw new Error(`step ${at}: counted wrongly`)
      }
    }),
    { numRuns: randomCases(60) },
  )
  t.pass()
})

t.test('a key below never pays without an approval what the key above may not', async t => {
  const cents = fc.integer({ min: 0, max: 50 })
  await fc.assert(
    fc.asyncProperty(cents, cents, fc.array(cents, { maxLength: 4 }), async (above, below, amounts) => {
      const parent = await payer([perDay(above)])
      const child = await payer([perDay(above), perDay(below)])
      for (const [at, amountCents] of amounts.entries()) {
        const byChild = await child.pay(order(`${at}`, amountCents))
        if (byChild !== 'paid') continue
        if ((await parent.pay(order(`${at}`, amountCents))) !== 'paid') return false
      }
      return true
    }),
    { numRuns: randomCases(50) },
  )
  t.pass()
})
