// What card networks ask for, without a host: decisions and their repeats.
import { keyDigest } from '@gatewright/kernel'
import { rows } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { compileSchema, ledgerAccounts } from '@gatewright/host/internal'
import { closed } from '#packages/host/dist/schemas/closed.js'
import t from 'tap'
import * as internals from '../../../../harness/internals.ts'
import { uniqueName } from '../../../../harness/stores.ts'
import { increment, openNetwork, repeated, request } from './open-network.ts'

const MERCHANT = { name: 'Corner Shop', mcc: '5411', country: 'US' }
const { db, all, counted, reported, card, ask, tell, rowOf, incrementsOf, held, causes, balance, ledger } =
  await openNetwork(t)

t.test('decides about a payment once, under an id of its provider', async t => {
  const { accountId, cardId } = await card()
  const data = request(cardId)
  const first = await ask('request', data)
  t.match(first, { outcome: 'applied', decision: { approved: true, declineReason: null } })
  t.match(first.decision.authorizationId, /^auth_[0-9a-f]{32}$/)
  t.equal(await held(accountId), 100)
  t.match(await ask('request', data), repeated(null))
  t.equal(await held(accountId), 100)
  t.match((await rowOf(first)).merchant, { city: null, country: 'US' })
  const other = await ask(
    'request',
    { ...data, cardId: (await card({ issuer: 'bank' })).cardId },
    { provider: 'bank' },
  )
  t.not(other.decision.authorizationId, first.decision.authorizationId, 'of another provider')
  t.equal(await ask('request', request(cardId), { provider: 'bank' }), undefined, 'a card of another one')
  t.equal(await ask('request', request('card_none')), undefined)
  t.same(counted.splice(0), ['authorized ', 'authorized '])
})

t.test('a merchant of any name, or of none, is paid, and kept as it can be shown', async t => {
  const { cardId } = await card()
  const validate = compileSchema(closed(all['authorization.request']!.data))
  for (const [given, name, city] of [
    [{ name: '' }, 'Unnamed merchant', null],
    [{ name: null, city: null }, 'Unnamed merchant', null],
    [{}, 'Unnamed merchant', null],
    [{ name: 'SQ *COFFEE\tBERLIN   ', city: '' }, 'SQ *COFFEE BERLIN', null],
    [{ name: 'Cafe\u0301', city: 'Zu\u0308rich' }, 'Café', 'Zürich'],
    [{ name: 'x'.repeat(300), city: '\u0001' }, 'x'.repeat(100), null],
  ] as const) {
    const data = request(cardId, { merchant: { mcc: '5411', country: 'US', ...given }, amountCents: 1 })
    t.equal(validate(data), undefined, JSON.stringify(given))
    const response = await ask('request', data)
    t.match(response, { decision: { approved: true } }, JSON.stringify(given))
    t.match((await rowOf(response)).merchant, { name, city })
  }
  counted.splice(0)
})

t.test('a repeat of a declined or reversed payment keeps its decision', async t => {
  const { cardId } = await card()
  const poor = request(cardId, { amountCents: 1001 })
  const decline = { approved: false, declineReason: 'insufficient_funds' }
  const first = await ask('request', poor)
  t.match(first, { outcome: 'applied', decision: decline })
  t.match(await ask('request', poor), { outcome: 'repeated', decision: decline })
  t.equal((await rowOf(first)).attempts.length, 1, 'a repeat of a decline approves nothing')
  const data = request(cardId)
  await ask('request', data)
  t.equal(await tell('reversed', { id: data.id }), 'applied')
  t.match(await ask('request', data), repeated('reversed'))
  const blocked = request(cardId, { declineReason: 'suspected_fraud' })
  t.match(await ask('request', blocked), { decision: { declineReason: 'suspected_fraud' } })
})

t.test('names the last 20 requests whose response may have said approved', async t => {
  const { cardId } = await card()
  const data = request(cardId)
  const first = await ask('request', data)
  const [made] = (await rowOf(first)).attempts
  for (let count = 2; count <= 20; count += 1) await ask('request', data)
  t.match(await rowOf(first), { attempts: { length: 20, 0: made } })
  await ask('request', data)
  const { attempts } = await rowOf(first)
  t.equal(attempts.length, 20)
  t.notOk(attempts.includes(made!))
  const raise = increment(data.id)
  await ask('increment', raise)
  for (let count = 2; count <= 21; count += 1) await ask('increment', raise)
  const [raised] = await incrementsOf(first.decision.authorizationId)
  t.equal(raised?.attempts.length, 20)
})

t.test('decides about an increment once, under an id of its provider', async t => {
  counted.splice(0)
  const { accountId, cardId } = await card()
  const data = request(cardId)
  const { decision } = await ask('request', data)
  const { authorizationId } = decision
  const raise = increment(data.id)
  t.same(await ask('increment', raise), { outcome: 'applied', decision })
  t.match(await internals.anyAuthorization.find(db, authorizationId), {
    amountCents: 150,
    incrementedCents: 50,
  })
  const [made] = await incrementsOf(authorizationId)
  t.match(made?.id, /^inc_[0-9a-f]{32}$/)
  t.match(made, {
    amountCents: 50,
    countedCents: 50,
    declineReason: null,
    declineRule: null,
    attempts: { length: 1 },
  })
  t.match(await ask('increment', raise), repeated(null))
  t.equal(await held(accountId), 150)
  t.match(await ask('request', data), repeated(null), 'the first amount is that of the request')
  t.equal(await ask('increment', increment('none')), undefined)
  t.equal(await ask('increment', raise, { provider: 'bank' }), undefined)
  const poor = increment(data.id, { amountCents: 851 })
  t.match(await ask('increment', poor), {
    decision: { approved: false, declineReason: 'insufficient_funds' },
  })
  t.match(await ask('increment', poor), repeated('insufficient_funds'))
  const [, declined] = await incrementsOf(authorizationId)
  t.match(declined, { countedCents: 0, hold: null, attempts: { length: 1 } })
  const odd = increment(data.id, { currency: 'EUR' })
  t.match(await ask('increment', odd), { decision: { declineReason: 'currency_not_supported' } })
  t.match(await ask('increment', increment(data.id, { declineReason: 'merchant_blocked' })), {
    decision: { declineReason: 'merchant_blocked' },
  })
  t.same(await causes(accountId, authorizationId), [
    ' authorized requested 100 ',
    'authorized authorized incremented 50 ',
    'authorized authorized increment_declined 851 insufficient_funds',
    'authorized authorized increment_declined 0 currency_not_supported',
    'authorized authorized increment_declined 50 merchant_blocked',
  ])
  await tell('reversed', { id: data.id })
  t.match(await ask('increment', raise), repeated('reversed'))
  t.match(await ask('increment', increment(data.id)), {
    decision: { declineReason: 'authorization_not_open' },
  })
  t.same(
    counted.splice(0).filter(each => each.startsWith('increment')),
    [
      'incremented ',
      'increment_declined insufficient_funds',
      'increment_declined currency_not_supported',
      'increment_declined merchant_blocked',
      'increment_declined authorization_not_open',
    ],
  )
})

t.test('names the rule that declines an increment', async t => {
  const policy = { id: uniqueName(), document: { maxAuthAmountCents: 120 } }
  const { cardId } = await card({ sessionPolicies: [policy] })
  const data = request(cardId)
  const { decision } = await ask('request', data)
  t.match(await ask('increment', increment(data.id, { amountCents: 21 })), {
    decision: { declineReason: 'policy_blocked' },
  })
  t.match(await ask('increment', increment(data.id, { amountCents: 20 })), { decision: { approved: true } })
  t.match(await incrementsOf(decision.authorizationId), [
    { declineReason: 'policy_blocked', declineRule: 'maxAuthAmountCents', hold: null },
    { declineReason: null, declineRule: null, hold: {} },
  ])
})

t.test('declines a repeated id with other terms, keeps each conflict once and reports every one', async t => {
  const { accountId, cardId } = await card()
  const data = request(cardId)
  const first = await ask('request', data)
  const { authorizationId } = first.decision
  const raise = increment(data.id)
  await ask('increment', raise)
  const second = request(cardId)
  await ask('request', second)
  const conflict = {
    outcome: 'conflict',
    decision: { approved: false, authorizationId, declineReason: 'conflict' },
  }
  const [before, moved] = [await rowOf(first), await held(accountId)]
  for (const [event, terms] of [
    ['request', { ...data, amountCents: 99 }],
    ['request', { ...data, amountCents: 99 }],
    ['request', { ...data, currency: 'EUR', cardId: 'card_none' }],
    ['increment', { ...raise, amountCents: 51 }],
    ['increment', { ...raise, currency: 'EUR' }],
  ] as const)
    t.match(await ask(event, terms), conflict)
  t.same(await rowOf(first), { ...before, attention: 'request_conflict' })
  t.equal(await held(accountId), moved)
  t.same((await causes(accountId, authorizationId)).slice(2), [
    'authorized authorized conflict 99 request_conflict: amountCents 99 instead of 100',
    `authorized authorized conflict 0 request_conflict: currency EUR instead of USD, cardId card_none instead of ${cardId}`,
    'authorized authorized conflict 51 request_conflict: amountCents 51 instead of 50',
    'authorized authorized conflict 0 request_conflict: currency EUR instead of USD',
  ])
  const messages = reported.splice(0).map(String)
  t.equal(messages.length, 5)
  t.match(messages[0], `sandbox repeated the id of ${authorizationId} with amountCents 99 instead of 100`)
  t.match(messages[4], /repeated the id of inc_\w+ with currency EUR instead of USD; it was declined/)
  t.match(await ask('increment', { ...raise, id: second.id }), { outcome: 'conflict' }, 'of another payment')
  for (let amountCents = 1; amountCents <= 20; amountCents += 1)
    await ask('request', { ...data, amountCents })
  const kept = (await causes(accountId, authorizationId)).filter(each => each.includes(' conflict '))
  t.equal(kept.length, 20)
  t.equal(reported.splice(0).length, 21)
})

t.test(
  'declines other terms of a payment in every state of it, and approves equal ones of an open one',
  async t => {
    const { cardId } = await card()
    const others = [
      { amountCents: 101 },
      { amountCents: 99 },
      { currency: 'EUR' },
      { cardId: (await card()).cardId },
      { cardId: 'card_none' },
    ]
    for (const [event, status] of [
      [undefined, 'authorized'],
      [{ amountCents: 100 }, 'cleared'],
      [{}, 'reversed'],
      [undefined, 'declined'],
    ] as const) {
      const data = request(cardId, status === 'declined' ? { declineReason: 'suspected_fraud' } : {})
      const made = await ask('request', data)
      if (event) await tell(status, { id: data.id, ...event })
      const merchant = { name: 'CORNER SHOP 12', mcc: '5411', country: 'US' }
      const reason = { authorized: null, cleared: null, reversed: 'reversed', declined: 'suspected_fraud' }[
        status
      ]
      t.match(await ask('request', { ...data, merchant }), repeated(reason), `an equal one when ${status}`)
      t.same(reported.splice(0), [])
      for (const other of others)
        t.match(await ask('request', { ...data, ...other }), { decision: { declineReason: 'conflict' } })
      t.match(await rowOf(made), { status, attention: 'request_conflict' })
      t.equal(reported.splice(0).length, others.length)
    }
  },
)

t.test('clears, reverses and refunds what a merchant reports', async t => {
  const { accountId, cardId } = await card()
  const data = request(cardId)
  const made = await ask('request', data)
  const { id } = data
  t.equal(await tell('cleared', { id, amountCents: 1 }, 'm1', 'bank'), 'unknown')
  t.equal(await tell('cleared', { id: 'none', amountCents: 1 }), 'unknown')
  t.equal(await tell('cleared', { id, amountCents: 80 }), 'applied')
  t.equal(await tell('reversed', { id }), 'ignored')
  t.equal(await tell('refunded', { id, amountCents: 30 }, 'm2'), 'applied')
  t.equal(await tell('refunded', { id, amountCents: 30 }, 'm2'), 'repeated', 'one message')
  t.equal(await tell('refunded', { id, amountCents: 20 }, 'm3'), 'applied')
  t.match(await rowOf(made), { status: 'cleared', clearedCents: 80, refundedCents: 50, excessCents: 0 })
  t.equal(await balance(ledgerAccounts.user(accountId)), 970)
  const { rows: entries } = await internals.transactions.page(db, accountId, { limit: 2 })
  const [last, first] = entries
  t.match([last?.amountCents, last?.direction, first?.amountCents], [20, 'credit', 30])
})

t.test('counts under the caps of a card what cleared, and gives the rest of them back', async t => {
  const policy = { id: uniqueName(), document: { dailySpendCapCents: 500 } }
  const { accountId, cardId } = await card({ sessionPolicies: [policy] })
  const used = async (): Promise<number> => {
    const text = 'select coalesce(max(used), 0) as n from gw_spend_counters where account = $1'
    return toInteger((await rows(db, text, [keyDigest(accountId)]))[0]?.['n'])
  }
  const pay = async (...increments: number[]): Promise<string> => {
    const data = request(cardId)
    await ask('request', data)
    for (const amountCents of increments) await ask('increment', increment(data.id, { amountCents }))
    return data.id
  }
  const [raised, other, alone] = [await pay(50, 30), await pay(20), await pay()]
  t.equal(await used(), 400)
  t.equal(await tell('cleared', { id: raised, amountCents: 120 }), 'applied')
  t.equal(await used(), 340)
  t.equal(await tell('reversed', { id: other }), 'applied')
  t.equal(await used(), 220)
  t.equal(await tell('reversed', { id: alone }), 'applied')
  t.equal(await used(), 120)
  t.equal(await tell('cleared', { id: await pay(), amountCents: 40 }), 'applied')
  t.equal(await used(), 160)
  t.same(await rows(db, 'select 1 from gw_spend_holds where account = $1', [keyDigest(accountId)]), [])
  const cleared = await rows(
    db,
    'select counted_cents from gw_authorization_increments where card_id = $1 order by position',
    [cardId],
  )
  t.same(
    cleared.map(row => toInteger(row['counted_cents'])),
    [20, 0, 0],
  )
})

t.test('checks what a card network sends', async t => {
  const check = (event: string, data: object): boolean =>
    compileSchema(closed(all[`authorization.${event}`]!.data))(data) === undefined
  const sound = request('card_1')
  const raise = increment('a')
  const movement = { id: 'a', amountCents: 1 }
  for (const amountCents of [1, 100_000_000]) {
    t.ok(check('request', { ...sound, amountCents }))
    t.ok(check('increment', { ...raise, amountCents }))
    t.ok(check('cleared', { ...movement, amountCents }) && check('refunded', { ...movement, amountCents }))
  }
  for (const amountCents of [-1, 100_000_001, 1.5]) {
    t.notOk(check('request', { ...sound, amountCents }))
    t.notOk(check('increment', { ...raise, amountCents }))
    t.notOk(check('cleared', { ...movement, amountCents }) || check('refunded', { ...movement, amountCents }))
    t.notOk(check('reversed', { ...movement, amountCents }))
  }
  const nothing = { amountCents: 0 }
  t.ok(check('request', { ...sound, ...nothing }) && check('cleared', { ...movement, ...nothing }))
  for (const [event, data] of [
    ['increment', raise],
    ['reversed', movement],
    ['refunded', movement],
  ] as const)
    t.notOk(check(event, { ...data, ...nothing }), event)
  const merchant = (more: object): boolean =>
    check('request', { ...sound, merchant: { ...MERCHANT, ...more } })
  for (const size of [0, 41, 10_000]) t.ok(merchant({ name: 'x'.repeat(size), city: 'y'.repeat(size) }))
  t.notOk(merchant({ name: 'x'.repeat(10_001) }) || merchant({ name: 7 }))
  t.ok(merchant({ city: null }))
  t.notOk(
    merchant({ mcc: '123' }) ||
      merchant({ country: 'us' }) ||
      check('request', { ...sound, currency: 'usd' }),
  )
  t.notOk(check('request', { ...sound, declineReason: 'no' }) || check('reversed', {}))
  t.notOk(check('request', { ...sound, id: 'a\0' }), 'an id that no database stores')
})

t.test('leaves a ledger in which all sums are right', async t => {
  t.match(await ledger.check(), { sumCents: 0, wrongAccounts: [] })
  t.same(await internals.accountsThatDiffer(db, internals.heldMoney), [])
  t.same(await rows(db, 'select 1 from gw_authorizations where amount_cents < incremented_cents'), [])
})
