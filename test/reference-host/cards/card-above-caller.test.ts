import assert from 'node:assert/strict'
import type { PolicyDocument } from '@gatewright/scope-guard'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../../harness/holds.ts'
import { internals } from '../../harness/internals.ts'

const { cardBindsCaller, hasMoneyMember, loosens, CARD_MOVES } = internals

const cents = fc.integer({ min: 1, max: 1000 })
const operations = fc.uniqueArray(fc.constantFrom('cards.*', 'bills.pay', 'payments.create', 'keys.*'), {
  ...{ minLength: 1, maxLength: 4 },
})
const optional = { requiredKeys: [] }
const document = fc.record(
  {
    maxAuthAmountCents: cents,
    dailySpendCapCents: cents,
    dailyWithdrawalCapCents: cents,
    denyOperations: operations,
    limits: fc.array(
      fc.oneof(
        fc.record({ operations, window: fc.constant('day'), maxCents: cents }),
        fc.record({ operations, window: fc.constant('day'), maxCount: cents }),
      ),
      { maxLength: 3 },
    ),
  },
  optional,
)
const policies = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 20 }), document), { selector: ([id]) => id, maxLength: 5 })
  .map(all => all.map(([id, each]): PolicyDocument => ({ id: `pol_${id}`, document: each })))

/** Checks a property as a test of its own. */
function holding<T>(title: string, property: fc.IRawProperty<T>): void {
  void t.test(title, t => holds(t, property))
}

/** The same policy in another spelling: members and entries in another order. */
function respelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(respelled).reverse()
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, each]) => [name, respelled(each)])
      .reverse(),
  )
}

holding(
  'a card that its own session made is below that session',
  fc.property(policies, callers => {
    assert.ok(cardBindsCaller(callers, callers))
  }),
)

holding(
  'more policies on the card never take it away from a caller',
  fc.property(policies, policies, policies, (callers, cards, more) => {
    if (cardBindsCaller(callers, cards)) assert.ok(cardBindsCaller(callers, [...cards, ...more]))
  }),
)

holding(
  'more policies on the caller never give it a card',
  fc.property(policies, policies, policies, (callers, cards, more) => {
    if (!cardBindsCaller(callers, cards)) assert.ok(!cardBindsCaller([...callers, ...more], cards))
  }),
)

holding(
  'every cap of the caller must be on the card, by id or by content in any spelling',
  fc.property(policies, callers => {
    const capped = callers.filter(hasMoneyMember)
    const other = capped.map(({ document: each }, index) => ({
      id: `other_${index}`,
      document: respelled(each),
    }))
    assert.ok(cardBindsCaller(callers, other))
    for (const missing of capped) {
      const same = (each: PolicyDocument): boolean => cardBindsCaller([missing], [each])
      const rest = other.filter(each => !same(each))
      assert.ok(!cardBindsCaller(callers, rest), JSON.stringify(missing))
    }
  }),
)

holding(
  'a caller without caps may use every card',
  fc.property(policies, policies, (callers, cards) => {
    assert.ok(
      cardBindsCaller(
        callers.filter(each => !hasMoneyMember(each)),
        cards,
      ),
    )
  }),
)

t.test('an amount one cent higher is another content', t => {
  const one = { id: 'a', document: { dailySpendCapCents: 100 } }
  t.ok(cardBindsCaller([one], [{ ...one, id: 'b' }]))
  t.notOk(cardBindsCaller([one], [{ id: 'b', document: { dailySpendCapCents: 101 } }]))
  t.notOk(cardBindsCaller([one], [{ id: 'b', document: { dailySpendCapCents: 100, denyOperations: [] } }]))
  t.notOk(
    hasMoneyMember({
      id: 'a',
      document: { limits: [{ operations: ['keys.*'], window: 'day', maxCount: 1 }] },
    }),
  )
  t.end()
})

t.test('only what lets more be spent loosens a card', t => {
  const limit = { amountCents: 100, frequency: 'allTime' } as const
  const card = { status: 'active', limit } as const
  t.notOk(loosens(card, undefined, undefined))
  t.notOk(loosens(card, 'active', limit))
  t.notOk(loosens(card, 'locked', { ...limit, amountCents: 99 }))
  t.notOk(loosens({ ...card, limit: null }, undefined, limit), 'a first limit tightens')
  t.ok(loosens(card, undefined, null))
  t.ok(loosens(card, undefined, { ...limit, amountCents: 101 }))
  t.ok(loosens(card, undefined, { amountCents: 1, frequency: 'perAuthorization' }), 'another frequency')
  for (const status of ['locked', 'not_activated'] as const)
    t.ok(loosens({ ...card, status }, 'active', undefined))
  t.end()
})

t.test('canceled is final, and nothing becomes not activated', t => {
  t.same(CARD_MOVES.canceled, [])
  t.notOk(Object.values(CARD_MOVES).flat().includes('not_activated'))
  t.end()
})
