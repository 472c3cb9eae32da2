// What card networks ask for, without a host: decisions, their repeats, and what is undone when a commit was not confirmed.
import { Fault } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { ledgerAccounts } from '@gatewright/host'
import t from 'tap'
import { NEW_CARD } from '../../../../harness/card-bench.ts'
import { internals } from '../../../../harness/internals.ts'
import { openMoney } from '../../../../harness/money-operations.ts'
import { uniqueName } from '../../../../harness/stores.ts'

const { db, clock, services, addAccount, balance, history } = await openMoney(t)
const { authorizationTable, incrementTable, cards } = internals
const { guard, ledger, money, spendStorage } = services
const counted: string[] = []
const authorizations = internals.authorizations({
  guard,
  ledger,
  money,
  spendStorage,
  count: (outcome, reason) => counted.push(`${outcome} ${reason}`),
})
const reported: unknown[] = []
const report = (error: unknown): void => void reported.push(error)
const cardKeyPolicies = { read: async () => [], keep: async () => {} }
const eventsOn = (client: SqlClient) =>
  internals.authorizationEvents({ db: client, cardKeyPolicies, authorizations, report })
const all = eventsOn(db)

/** A database that commits and then fails, as one whose reply is lost. The calls of `hold` end when the test says so. */
function losesReplies({ times = 1, hold = async () => {} } = {}) {
  let transactions = 0
  const ended: unknown[] = []
  const client: SqlClient = {
    ...db,
    query: (text, values) => db.query(text, values),
    async transaction(work, options) {
      transactions += 1
      const isLost = transactions <= times
      const result = await db.transaction(work, options).finally(() => ended.push(work))
      if (!isLost) return result
      await hold()
      throw new Fault('ERR_STORE_UNAVAILABLE', 'the reply is lost')
    },
  }
  const untilEnded = async (count: number): Promise<void> => {
    while (ended.length < count) await new Promise(resolve => setImmediate(resolve))
    for (let turn = 0; turn < 5; turn += 1) await new Promise(resolve => setImmediate(resolve))
  }
  return { client, untilEnded, transactions: () => transactions }
}

interface Response {
  readonly outcome: string
  readonly decision: {
    readonly approved: boolean
    readonly authorizationId: string
    readonly declineReason: string | null
  }
}
/** A card of an account with 1000 cents. */
async function card(more: object = {}): Promise<{ readonly accountId: string; readonly cardId: string }> {
  const [accountId, id] = [await addAccount(1000), `card_${uniqueName()}`]
  await db.transaction(tx => cards.insert(tx, accountId, [{ ...NEW_CARD, ...more, id }], clock.now()))
  return { accountId, cardId: id }
}
const MERCHANT = { name: 'Corner Shop', mcc: '5411', country: 'US' }
type Event = 'request' | 'increment'
/** Asks for a decision, as a card network. */
async function ask(
  event: Event,
  data: object,
  { events = all, provider = 'sandbox' } = {},
): Promise<Response> {
  const { validate, decide } = events[`authorization.${event}`] as never as {
    validate(data: unknown): { message: string } | undefined
    decide(provider: string, data: unknown, now: number): Promise<Response>
  }
  const problem = validate(data)
  if (problem) throw new Error(problem.message)
  return decide(provider, data, clock.now())
}
const request = (cardId: string, more: object = {}) => ({
  id: uniqueName(),
  cardId,
  amountCents: 100,
  currency: 'USD',
  merchant: MERCHANT,
  ...more,
})
const increment = (id: string, more: object = {}) => ({
  id,
  incrementId: uniqueName(),
  amountCents: 50,
  currency: 'USD',
  ...more,
})
/** Reports what a merchant did. */
const tell = (
  event: string,
  data: object,
  messageId = uniqueName(),
  provider = 'sandbox',
): Promise<string> => {
  const { apply } = all[`authorization.${event}`] as never as {
    apply(tx: unknown, provider: string, data: object, now: number, messageId: string): Promise<string>
  }
  return db.transaction(tx => apply(tx, provider, data, clock.now(), messageId))
}
const rowOf = async ({ decision }: Response) =>
  (await authorizationTable.anyAccount.find(db, decision.authorizationId))!
const incrementsOf = async (authorizationId: string) =>
  incrementTable.select(db, 'where authorization_id = $1 order by position', [authorizationId])
const held = (accountId: string): Promise<number> => balance(ledgerAccounts.held(accountId, 'cards'))
const causes = async (accountId: string, id: string): Promise<unknown[]> =>
  (await history(accountId, 'authorization', id)).map(([from, to, cause, cents, detail]) =>
    [from, to, cause, cents, detail].join(' '),
  )
const repeated = (declineReason: string | null) => ({
  outcome: 'repeated',
  decision: { approved: declineReason === null, declineReason },
})

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
  t.match(await authorizationTable.anyAccount.find(db, authorizationId), {
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
  const kept = (await causes(accountId, authorizationId)).filter(each => String(each).includes(' conflict '))
  t.equal(kept.length, 20)
  t.equal(reported.splice(0).length, 21)
})

t.test('undoes a decision whose commit was not confirmed', async t => {
  const { accountId, cardId } = await card()
  const data = request(cardId)
  const lost = losesReplies()
  const unavailable = { outcome: 'unavailable', decision: { approved: false, declineReason: 'unavailable' } }
  const response = await ask('request', data, { events: eventsOn(lost.client) })
  t.match(response, unavailable)
  await lost.untilEnded(2)
  t.match(await rowOf(response), { status: 'reversed', declineReason: 'unavailable' })
  t.equal(await held(accountId), 0)
  const next = request(cardId)
  const made = await ask('request', next)
  const again = losesReplies()
  const raised = await ask('increment', increment(next.id), { events: eventsOn(again.client) })
  t.match(raised, unavailable)
  t.equal(raised.decision.authorizationId, made.decision.authorizationId)
  await again.untilEnded(2)
  t.match(await rowOf(made), { status: 'authorized', amountCents: 100, incrementedCents: 0 })
  t.match(await incrementsOf(made.decision.authorizationId), [
    { countedCents: 0, declineReason: 'unavailable', attempts: [] },
  ])
  t.equal(await held(accountId), 100)
  t.same((await causes(accountId, made.decision.authorizationId)).slice(1), [
    'authorized authorized incremented 50 ',
    'authorized authorized increment_declined 50 unavailable',
  ])
  const [entry] = await internals.transactions.page(db, accountId, { after: 0, limit: 1 })
  t.match(entry, { status: 'pending', amountCents: 100, source: { id: made.decision.authorizationId } })
  t.same(reported, [])
})

t.test('undoes nothing that another request has reported as approved', async t => {
  const { accountId, cardId } = await card()
  const data = request(cardId)
  const raise = increment(data.id)
  for (const [event, terms] of [
    ['request', data],
    ['increment', raise],
  ] as const) {
    let next: Response | undefined
    const lost = losesReplies({ hold: async () => void (next = await ask(event, terms)) })
    const events = eventsOn(lost.client)
    t.match(await ask(event, terms, { events }), { outcome: 'unavailable' })
    await lost.untilEnded(2)
    t.match(next, repeated(null))
    const row = await rowOf(next!)
    const [made] = await incrementsOf(row.id)
    t.match([row.status, row.attempts.length], ['authorized', 1])
    if (made) t.match([made.declineReason, made.attempts.length], [null, 1])
  }
  t.equal(await held(accountId), 150)
  // A repeat that fails is taken out alone.
  const again = losesReplies()
  await ask('request', data, { events: eventsOn(again.client) })
  await again.untilEnded(2)
  const later = losesReplies()
  await ask('increment', raise, { events: eventsOn(later.client) })
  await later.untilEnded(2)
  t.equal(await held(accountId), 150)
})

t.test('undoes nothing that has ended meanwhile', async t => {
  const { accountId, cardId } = await card()
  const data = request(cardId)
  const made = await ask('request', data)
  const lost = losesReplies({
    hold: async () => void (await tell('cleared', { id: data.id, amountCents: 150 })),
  })
  t.match(await ask('increment', increment(data.id), { events: eventsOn(lost.client) }), {
    outcome: 'unavailable',
  })
  await lost.untilEnded(2)
  t.match(await rowOf(made), { status: 'cleared', clearedCents: 150, amountCents: 150 })
  t.equal(await held(accountId), 0)
  t.match(await incrementsOf(made.decision.authorizationId), [{ countedCents: 50, declineReason: null }])
})

t.test('a declined increment whose commit was not confirmed stays declined', async t => {
  const { accountId, cardId } = await card()
  const data = request(cardId)
  const made = await ask('request', data)
  const lost = losesReplies()
  await ask('increment', increment(data.id, { amountCents: 2000 }), { events: eventsOn(lost.client) })
  await lost.untilEnded(2)
  t.match(await incrementsOf(made.decision.authorizationId), [{ declineReason: 'insufficient_funds' }])
  t.equal(await held(accountId), 100)
})

t.test('tries again when a decision cannot be undone at once', async t => {
  const { accountId, cardId } = await card()
  const lost = losesReplies({ times: 1 })
  let tries = 0
  const client: SqlClient = {
    ...lost.client,
    async transaction(work, options) {
      tries += 1
      if (tries === 2) throw new Fault('ERR_STORE_UNAVAILABLE', 'still down')
      return lost.client.transaction(work, options)
    },
  }
  const response = await ask('request', request(cardId), { events: eventsOn(client) })
  await lost.untilEnded(2)
  t.match(reported.splice(0), [{ message: 'still down' }])
  t.match(await rowOf(response), { status: 'reversed' })
  t.equal(await held(accountId), 0)
  t.equal(tries, 3)
})

t.test('undoes nothing after an outage before the decision', async t => {
  const { cardId } = await card()
  const down = new Fault('ERR_STORE_UNAVAILABLE', 'down')
  let transactions = 0
  const client: SqlClient = {
    ...db,
    query: () => Promise.reject(down),
    transaction: () => {
      transactions += 1
      return Promise.reject(down)
    },
  }
  for (const [event, data] of [
    ['request', request(cardId)],
    ['increment', increment('x')],
  ] as const) {
    t.match(await ask(event, data, { events: eventsOn(client) }), { outcome: 'unavailable' })
    for (let turn = 0; turn < 5; turn += 1) await new Promise(resolve => setImmediate(resolve))
  }
  t.equal(transactions, 0)
  const bug: SqlClient = { ...db, transaction: () => Promise.reject(new RangeError('a bug')) }
  await t.rejects(ask('request', request(cardId), { events: eventsOn(bug) }), RangeError)
  t.same(reported, [])
})

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
  t.equal(await tell('refunded', { id, amountCents: 30 }, 'm2'), 'ignored', 'one message')
  t.equal(await tell('refunded', { id, amountCents: 20 }, 'm3'), 'applied')
  t.match(await rowOf(made), { status: 'cleared', clearedCents: 80, refundedCents: 50, excessCents: 0 })
  t.equal(await balance(ledgerAccounts.user(accountId)), 970)
  const [last, first] = await internals.transactions.page(db, accountId, { after: 0, limit: 2 })
  t.match([last?.amountCents, last?.direction, first?.amountCents], [20, 'credit', 30])
})

t.test('checks what a card network sends', async t => {
  const check = (event: string, data: object): boolean =>
    (all[`authorization.${event}`] as { validate(data: unknown): unknown }).validate(data) === undefined
  const sound = request('card_1')
  const raise = increment('a')
  const movement = { id: 'a', amountCents: 1 }
  for (const amountCents of [1, 100_000_000]) {
    t.ok(check('request', { ...sound, amountCents }))
    t.ok(check('increment', { ...raise, amountCents }))
    t.ok(check('cleared', { ...movement, amountCents }) && check('refunded', { ...movement, amountCents }))
  }
  for (const amountCents of [0, 100_000_001, 1.5]) {
    t.notOk(check('request', { ...sound, amountCents }))
    t.notOk(check('increment', { ...raise, amountCents }))
    t.notOk(check('cleared', { ...movement, amountCents }) || check('refunded', { ...movement, amountCents }))
  }
  const merchant = (more: object): boolean =>
    check('request', { ...sound, merchant: { ...MERCHANT, ...more } })
  for (const size of [1, 40]) t.ok(merchant({ name: 'x'.repeat(size), city: 'y'.repeat(size) }))
  for (const size of [0, 41])
    t.notOk(merchant({ name: 'x'.repeat(size) }) || merchant({ city: 'y'.repeat(size) }))
  t.ok(merchant({ city: null }))
  t.notOk(
    merchant({ mcc: '123' }) ||
      merchant({ country: 'us' }) ||
      check('request', { ...sound, currency: 'usd' }),
  )
  t.notOk(check('request', { ...sound, declineReason: 'no' }) || check('reversed', {}))
})

t.test('leaves a ledger in which all sums are right', async t => {
  t.match(await ledger.check(), { sumCents: 0, wrongAccounts: [] })
  t.same(await internals.accountsThatDiffer(db, internals.heldMoney), [])
  t.same(await rows(db, 'select 1 from gw_authorizations where amount_cents < incremented_cents'), [])
})
