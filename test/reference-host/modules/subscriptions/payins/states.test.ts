import assert from 'node:assert/strict'
import { extendTerm, termEnd, type PaidTerm } from '#packages/reference-host/dist/product/plans.js'
import {
  nextStatus,
  PAYIN_MOVES,
  PAYIN_STATUSES,
  type PayinCause,
  type PayinStatus,
} from '#packages/reference-host/dist/modules/subscriptions/payins/states.js'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../../../../harness/holds.ts'

const FINAL: readonly PayinStatus[] = ['settled', 'expired', 'failed', 'canceled']
const CAUSES = Object.keys(PAYIN_MOVES) as PayinCause[]

t.test('no cause moves a pay-in out of a final status', async t => {
  for (const status of FINAL) {
    for (const cause of CAUSES) t.equal(nextStatus(status, cause), undefined, `${cause} of ${status}`)
  }
})

t.test(
  'every status can be reached, and every open status allows each cause except payment from the balance',
  async t => {
    const reached = new Set<PayinStatus>(['awaiting_payment'])
    for (const cause of CAUSES) reached.add(PAYIN_MOVES[cause].to)
    t.same(reached, new Set(PAYIN_STATUSES))
    t.equal(nextStatus('awaiting_payment', 'paid_from_balance'), 'settled')
    t.equal(nextStatus('confirming', 'paid_from_balance'), undefined, 'a payment is under way')
    t.equal(nextStatus('confirming', 'reorganised'), 'confirming')
    t.equal(nextStatus('awaiting_payment', 'reorganised'), undefined)
  },
)

t.test('a term keeps its day of the month', async t => {
  const at = (text: string): number => Date.parse(`${text}T09:30:00.000Z`)
  const end = (from: string, months: number): string =>
    new Date(termEnd({ anchorAt: at(from), months })).toISOString()
  t.equal(end('2026-01-31', 1), '2026-02-28T09:30:00.000Z')
  t.equal(end('2026-01-31', 2), '2026-03-31T09:30:00.000Z')
  t.equal(end('2028-01-31', 1), '2028-02-29T09:30:00.000Z')
  t.equal(end('2026-12-15', 1), '2027-01-15T09:30:00.000Z')
  t.equal(end('2028-02-29', 12), '2029-02-28T09:30:00.000Z')
})

t.test('a late payment pays the period in which it comes, and keeps the day of the month', async t => {
  const at = (day: string): number => Date.parse(`${day}T09:30:00Z`)
  const began = { anchorAt: at('2026-01-31'), months: 1 }
  const end = (term: PaidTerm, interval: 'month' | 'year', now: string): string =>
    new Date(termEnd(extendTerm(term, interval, at(now)))).toISOString().slice(0, 10)
  for (const [now, expected] of [
    ['2026-02-28', '2026-03-31'],
    ['2026-03-03', '2026-03-31'],
    ['2026-03-30', '2026-03-31'],
    ['2026-03-31', '2026-04-30'],
    ['2026-04-09', '2026-04-30'],
    ['2027-02-01', '2027-02-28'],
    ['2028-02-29', '2028-03-31'],
  ] as const)
    t.equal(end(began, 'month', now), expected, now)
  const leap = { anchorAt: at('2028-02-29'), months: 12 }
  t.equal(end(leap, 'year', '2029-03-10'), '2030-02-28')
  t.equal(end(leap, 'year', '2031-06-01'), '2032-02-29')
})

t.test(
  'a payment extends a term by whole periods to the first end after it, and never removes time',
  async t => {
    const when = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2090, 0, 1) })
    const property = fc.property(
      when,
      fc.array(fc.record({ gapMs: fc.integer({ min: 0, max: 5_000_000_000 }), yearly: fc.boolean() }), {
        maxLength: 20,
      }),
      (start, payments) => {
        let now = start
        const firstGapMs = payments[0]?.gapMs ?? 0
        let term: PaidTerm | undefined
        for (const { gapMs, yearly } of payments) {
          now += gapMs
          const before = term && termEnd(term)
          term = extendTerm(term, yearly ? 'year' : 'month', now)
          const period = yearly ? 12 : 1
          const previous = termEnd({ ...term, months: term.months - period })
          assert.equal(term.anchorAt, start + firstGapMs)
          assert.ok(termEnd(term) > now)
          assert.ok(before === undefined || termEnd(term) > before)
          // One period less would have ended already, or is what was paid before.
          assert.ok(previous <= now || previous === before)
        }
      },
    )
    await holds(t, property)
  },
)

t.test('a payment at the end of a term pays the next period, like one before it', async t => {
  const term = { anchorAt: Date.UTC(2026, 0, 1), months: 1 }
  t.same(extendTerm(term, 'month', termEnd(term)), { anchorAt: term.anchorAt, months: 2 })
  t.same(extendTerm(term, 'month', termEnd(term) - 1), { anchorAt: term.anchorAt, months: 2 })
})
