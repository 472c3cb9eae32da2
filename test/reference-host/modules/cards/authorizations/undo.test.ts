// What is undone of a decision whose commit was not confirmed.
import { Fault } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import t from 'tap'
import * as internals from '../../../../harness/internals.ts'
import { increment, openNetwork, repeated, request, type Response } from './open-network.ts'

const { db, eventsOn, reported, card, ask, tell, rowOf, incrementsOf, held, causes } = await openNetwork(t)

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
  const {
    rows: [entry],
  } = await internals.transactions.page(db, accountId, { limit: 1 })
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
