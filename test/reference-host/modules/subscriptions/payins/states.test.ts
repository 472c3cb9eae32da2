import assert from 'node:assert/strict'
import {
  extendTerm,
  nextStatus,
  PAYIN_MOVES,
  PAYIN_STATUSES,
  termEnd,
  type PaidTerm,
  type PayinCause,
  type PayinStatus,
} from '@gatewright/reference-host/internal'
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

t.test('a payment adds exactly one interval to a running term and never removes time', async t => {
  const when = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2090, 0, 1) })
  const property = fc.property(
    when,
    fc.array(fc.record({ gapMs: fc.integer({ min: 0, max: 5_000_000_000 }), yearly: fc.boolean() }), {
      maxLength: 20,
    }),
    (start, payments) => {
      let now = start
      let term: PaidTerm | undefined
      for (const { gapMs, yearly } of payments) {
        now += gapMs
        const before = term && termEnd(term)
        term = extendTerm(term, yearly ? 'year' : 'month', now)
        const paid = yearly ? 12 : 1
        const months = before !== undefined && before > now ? term.months - paid : 0
        assert.equal(termEnd({ ...term, months: months + paid }), termEnd(term))
        assert.ok(termEnd(term) > now)
        assert.ok(before === undefined || termEnd(term) > before)
      }
    },
  )
  await holds(t, property)
})

t.test('a term that ends now has ended', async t => {
  const term = { anchorAt: Date.UTC(2026, 0, 1), months: 1 }
  t.same(extendTerm(term, 'month', termEnd(term)), { anchorAt: termEnd(term), months: 1 })
  t.same(extendTerm(term, 'month', termEnd(term) - 1), { anchorAt: term.anchorAt, months: 2 })
})
