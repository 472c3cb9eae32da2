import type { PolicyDocument } from '@gatewright/scope-guard'
import t from 'tap'
import * as internals from '../../../harness/internals.ts'

const { loosens, CARD_MOVES, policiesAskedOfCard, policiesBeyondKey, policiesOnCard } = internals

const keyLineage = { accountId: 'acc', lineageId: 'one' }
const policy = (id: string, document: object = { dailySpendCapCents: 100 }): PolicyDocument => ({
  id,
  document,
})
const idsOf = (policies: readonly PolicyDocument[]): readonly string[] => policies.map(({ id }) => id)
const shared = (document: object, lineageId = 'one'): string => {
  const card = { keyLineage: { ...keyLineage, lineageId }, sessionPolicies: [policy('b', document)] }
  return idsOf(policiesOnCard(card, []))[1] as string
}

t.test('a card carries the policies of its key, and those of its session under two ids', t => {
  const card = { keyLineage, sessionPolicies: [policy('b'), policy('c', {})] }
  const [first, second, third, ...sharedOnes] = policiesOnCard(card, [policy('a')])
  t.same([first, second, third], [policy('a'), policy('b'), policy('c', {})])
  t.same(sharedOnes, [policy(shared({ dailySpendCapCents: 100 })), policy(shared({}), {})])
  t.same(policiesOnCard({ keyLineage: null, sessionPolicies: [] }, []), [], 'a seeded card')
  t.end()
})

t.test('equal policies of sessions of one key share an id, and others do not', t => {
  const limit = { operations: ['cards.*', 'bills.pay'], window: 'day', maxCents: 5 }
  const one = { dailySpendCapCents: 100, limits: [limit] }
  const same = {
    limits: [{ maxCents: 5, window: 'day', operations: ['bills.pay', 'cards.*'] }],
    dailySpendCapCents: 100,
  }
  t.equal(shared(one), shared(same), 'in another order')
  t.equal(shared({ denyOperations: ['a.b', 'a.b'] }), shared({ denyOperations: ['a.b'] }), 'an entry twice')
  t.equal(shared({ dailySpendCapCents: 1, notAfter: undefined }), shared({ dailySpendCapCents: 1 }))
  const others = [
    one,
    { ...one, dailySpendCapCents: 101 },
    { ...one, denyOperations: [] },
    { limits: [limit] },
    {},
  ]
  t.equal(new Set(others.map(each => shared(each))).size, others.length)
  t.not(shared(one), shared(one, 'two'), 'of another key')
  t.end()
})

t.test('asks for the policies of the key by their ids, and for others by the shared id', t => {
  const caller = { keyLineage, ofKey: [policy('a')], ofSession: [policy('a'), policy('b')] }
  t.same(idsOf(policiesBeyondKey(caller)), ['b'])
  t.same(idsOf(policiesAskedOfCard(caller)), ['a', shared({ dailySpendCapCents: 100 })])
  t.end()
})

t.test('old policies of a key that has just changed do not pass for policies of the session', t => {
  const caller = { keyLineage, ofKey: [policy('new')], ofSession: [policy('old'), policy('b')] }
  t.same(idsOf(policiesAskedOfCard(caller)), ['old', 'b'])
  t.same(idsOf(policiesBeyondKey(caller)), ['old', 'b'], 'a card that it makes is bound by both')
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
