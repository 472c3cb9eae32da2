// What becomes of an event: applied once, sent again, or kept until its object can take it.
import type { SqlClient } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { onBothDatabases } from '../../../harness/databases/host-tables.ts'
import * as internals from '../../../harness/internals.ts'

type Applied = Parameters<typeof internals.applyEvent>[2]
type Outcome = Awaited<ReturnType<Applied['apply']>>

const NOW = 1_767_225_600_000
const DAY_MS = 86_400_000

/** An object of a provider, whose events have the outcome that is set. */
function openObject(db: SqlClient, more: Partial<Applied> = {}) {
  const object = { id: 'o1', outcome: 'applied' as Outcome, applied: [] as object[] }
  const type: Applied = {
    data: Type.Object({}),
    ofUnknownObject: 'sent_again',
    keeps: data => ({ amountCents: null, cardId: null, data }),
    async apply(_tx, data, { moneyId }) {
      await Promise.resolve()
      if (object.outcome === 'applied') object.applied.push({ ...(data as object), moneyId })
      return object.outcome
    },
    ...more,
  }
  const send = (data: object, messageId: string, at = NOW, provider = 'p'): Promise<string> => {
    const event = { provider, messageId, type: 'object.changed', data: { id: object.id, ...data } }
    return db.transaction(tx => internals.applyEvent(tx, event, type, at))
  }
  const applyKept = (at: number): Promise<boolean> =>
    db.transaction(tx =>
      internals.applyKept(tx, { provider: 'p', objectId: object.id }, { 'object.changed': type }, at),
    )
  return { object, send, applyKept }
}

onBothDatabases('the id of a message counts once for its provider and content', async (t, { dbs: [db] }) => {
  const { object, send } = openObject(db)
  t.equal(await send({ cents: 5, currency: 'USD' }, 'm1'), 'applied')
  t.equal(
    await send({ currency: 'USD', cents: 5 }, 'm1'),
    'repeated',
    'the order of members is no difference',
  )
  t.equal(await send({ cents: 6, currency: 'USD' }, 'm1'), 'conflict')
  t.equal(await send({ cents: 6, currency: 'USD' }, 'm1', NOW, 'other'), 'applied', 'of another provider')
  t.equal(await send({ cents: 5, currency: 'USD' }, 'm2'), 'applied', 'another message')
  t.match(object.applied, [
    { moneyId: 'webhook-id m1' },
    { moneyId: 'webhook-id m1' },
    { moneyId: 'webhook-id m2' },
  ])
})

onBothDatabases('names the money by the data if they have an id of it', async (t, { dbs: [db] }) => {
  const { object, send } = openObject(db, { moneyId: data => (data as { payment?: string }).payment })
  await send({ payment: 'pay-1' }, 'm1')
  await send({}, 'm2')
  t.match(object.applied, [{ moneyId: 'pay-1' }, { moneyId: 'webhook-id m2' }])
})

onBothDatabases('asks for an event again for a day, then keeps it', async (t, { dbs: [db] }) => {
  for (const outcome of ['unknown', 'early'] as const) {
    const { object, send, applyKept } = openObject(db)
    object.id = outcome
    object.outcome = outcome
    t.equal(await send({}, `${outcome} 1`), outcome)
    t.equal(await send({}, `${outcome} 1`, NOW + DAY_MS - 1), outcome, 'the same message is no repeat')
    t.equal(await applyKept(NOW + DAY_MS - 1), false, 'the provider sends it again')
    t.equal(await send({}, `${outcome} 1`, NOW + DAY_MS), 'kept')
    t.equal(await send({}, `${outcome} 1`, NOW + DAY_MS), 'repeated')
    for (const open of [outcome, 'conflict'] as const) {
      object.outcome = open
      t.equal(await applyKept(NOW + DAY_MS), false, `${open}: it stays`)
    }
    object.outcome = 'applied'
    t.equal(await applyKept(NOW + DAY_MS), true)
    t.equal(object.applied.length, 1)
    t.equal(await applyKept(NOW + DAY_MS), false, 'once')
    t.equal(object.applied.length, 1)
  }
})

onBothDatabases(
  'keeps an event of an object that may never have existed at once',
  async (t, { dbs: [db] }) => {
    const { object, send, applyKept } = openObject(db, { ofUnknownObject: 'kept' })
    object.outcome = 'unknown'
    t.equal(await send({}, 'm1'), 'kept')
    for (const ends of ['ignored', 'repeated'] as const) {
      object.outcome = 'unknown'
      t.equal(await send({ ends }, ends), 'kept')
      object.outcome = ends
      t.equal(await applyKept(NOW), true, `${ends}: it is kept no longer`)
      t.equal(await applyKept(NOW), false)
    }
  },
)
