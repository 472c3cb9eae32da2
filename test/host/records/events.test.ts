import assert from 'node:assert/strict'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { manualClock, race } from '@gatewright/kernel/testing'
import { alertRecorder, spendsIn } from '#packages/host/dist/records/alerts.js'
import { memorySpends } from '@gatewright/scope-guard/memory'
import { events, type NewEvent, type RecordedEvent, type Subject } from '@gatewright/host'
import fc from 'fast-check'
import { ON_CITUS } from '../../harness/databases/citus.ts'
import { randomCases } from '../../harness/random-cases.ts'
import { onBothDatabases } from '../../harness/databases/host-tables.ts'

const NOW = 1_767_225_600_000
const card: Subject = { kind: 'card', id: 'card_1' }
const locked: NewEvent = { accountId: 'ann', subject: card, from: 'active', to: 'locked', cause: 'locked' }

onBothDatabases('records every member of an event, and null for what it lacks', async (t, { dbs: [db] }) => {
  await events.record(db, { ...locked, amountCents: 5, detail: 'by the owner' }, NOW)
  await events.record(db, { accountId: 'ann', subject: card, cause: 'revealed' }, NOW + 1)
  const [first, second] = await events.history(db, 'ann', card)
  t.match(first, {
    id: /^evt_[0-9a-f]{32}$/,
    accountId: 'ann',
    subject: card,
    number: 1,
    from: 'active',
    to: 'locked',
    cause: 'locked',
    amountCents: 5,
    detail: 'by the owner',
    at: NOW,
    readAt: null,
  })
  t.match(second, { number: 2, from: null, to: null, cause: 'revealed', amountCents: null, detail: null })
})

onBothDatabases('a first event has the number 1, and is recorded only once', async (t, { dbs: [db] }) => {
  const first = { ...locked, isFirst: true }
  await events.record(db, first, NOW)
  await events.record(db, locked, NOW)
  t.same(
    (await events.history(db, 'ann', card)).map(({ number }) => number),
    [1, 2],
  )
  await t.rejects(events.record(db, first, NOW), { code: 'ERR_STORE_UNAVAILABLE' })
})

onBothDatabases(
  'numbers, histories, pages and unread events agree with a model, whatever happens in what order',
  async (_t, { dbs: [db] }) => {
    const account = fc.constantFrom('ann', 'bob')
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ does: fc.constant('record'), account, what: fc.nat(2) }) },
      { weight: 2, arbitrary: fc.record({ does: fc.constant('mark'), account, what: fc.nat(30) }) },
      { weight: 1, arbitrary: fc.record({ does: fc.constant('roll back'), account, what: fc.nat(2) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
        await rows(db, 'delete from gw_events')
        const all: {
          accountId: string
          subject: Subject
          number: number
          id: string
          readAt: number | null
        }[] = []
        for (const [n, { does, account, what }] of steps.entries()) {
          // A subject belongs to one account.
          const subject = { kind: 'card', id: `${account} ${what}` }
          const event = { accountId: account, subject, cause: `step ${n}` }
          if (does === 'roll back') {
            const lost = db.transaction(async tx => {
              await events.record(tx, event, NOW)
              throw new Error('rolled back')
            })
            await assert.rejects(lost, /rolled back/)
          } else if (does === 'record') {
            await db.transaction(tx => events.record(tx, event, NOW + n))
            const number = all.filter(each => each.subject.id === subject.id).length + 1
            const { id } = (await events.history(db, account, subject)).at(-1) as RecordedEvent
            all.push({ accountId: account, subject, number, id, readAt: null })
          } else {
            const target = all[what % Math.max(all.length, 1)]
            const readAt = what % 2 === 0 ? NOW : null
            const marked = await events.mark(db, account, target?.id ?? 'none', readAt)
            if (target?.accountId === account) target.readAt = readAt
            assert.equal(marked?.id, target?.accountId === account ? target.id : undefined)
          }
        }
        for (const account of ['ann', 'bob']) {
          const mine = all.filter(({ accountId }) => accountId === account).toReversed()
          const unread = mine.filter(({ readAt }) => readAt === null)
          const shown = (found: readonly RecordedEvent[]): unknown[] =>
            found.map(({ accountId, subject, number, id, readAt }) => ({
              accountId,
              subject,
              number,
              id,
              readAt,
            }))
          assert.deepEqual(shown(await events.page(db, account, { after: 0, limit: 100 })), mine)
          assert.equal(await events.unreadCount(db, account, 100), unread.length)
          assert.equal(await events.unreadCount(db, account, 3), Math.min(3, unread.length), 'counts no more')
          const [first] = await events.unread(db, account, { after: 0, limit: 1 })
          const others = first ? await events.unread(db, account, { after: first.position, limit: 100 }) : []
          assert.deepEqual(shown(first ? [first, ...others] : others), unread)
          for (const what of [0, 1, 2]) {
            const subject = { kind: 'card', id: `${account} ${what}` }
            const history = await events.history(db, account, subject)
            assert.deepEqual(
              history.map(({ number }) => number),
              history.map((_, index) => index + 1),
            )
            const other = account === 'ann' ? 'bob' : 'ann'
            assert.deepEqual(await events.history(db, other, subject), [], 'no other account sees it')
          }
        }
      }),
      { numRuns: randomCases(30) },
    )
  },
)

onBothDatabases(
  '40 simultaneous events of a locked subject are numbered without gaps',
  async (t, { dialect, dbs }) => {
    const lock = dialect === 'postgres' ? ' for update' : ''
    await rows(dbs[0], 'create table gw_subjects (id text primary key)')
    await rows(dbs[0], 'insert into gw_subjects (id) values ($1)', [card.id])
    await race(40, n =>
      dbs[n % dbs.length]!.transaction(async tx => {
        await rows(tx, `select id from gw_subjects where id = $1${lock}`, [card.id])
        await events.record(tx, locked, NOW)
      }),
    )
    const history = await events.history(dbs[0], 'ann', card)
    t.same(
      history.map(({ number }) => number),
      Array.from({ length: 40 }, (_, index) => index + 1),
    )
  },
)

onBothDatabases(
  'deletes events from before an instant, and keeps what decisions read',
  async (t, { dbs: [db] }) => {
    for (const [at, keep] of [
      [NOW, false],
      [NOW + 1, true],
      [NOW + 2, false],
      [NOW + 3, false],
    ] as const)
      await events.record(db, { ...locked, keep }, at)
    const left = async (): Promise<number[]> =>
      (await events.history(db, 'ann', card)).map(({ number }) => number)
    t.equal(await events.collect(db, 10, NOW), 0)
    t.same(await left(), [1, 2, 3, 4], 'an event of that very instant stays')
    t.equal(await events.collect(db, 1, NOW + 3), 1)
    t.same(await left(), [2, 3, 4], 'the oldest first, up to the limit')
    t.equal(await events.collect(db, 10, NOW + 3), 1)
    t.same(await left(), [2, 4])
    await events.record(db, locked, NOW + 4)
    t.same(await left(), [2, 4, 5])
  },
)

onBothDatabases('hosts that delete at the same time delete different events', async (t, { dbs }) => {
  for (let n = 0; n < 40; n += 1) await events.record(dbs[0], locked, NOW)
  const deleted = await race(8, n => events.collect(dbs[n % dbs.length]!, 5, NOW + 1))
  const left = await events.history(dbs[0], 'ann', card)
  t.equal(
    deleted.reduce((sum, count) => sum + count),
    40 - left.length,
    'one host deletes an event',
  )
  // Citus cannot skip locked rows: hosts choose the same ones there, and all but one delete none.
  if (!ON_CITUS) t.same(left, [])
})

/** Takes the events that wait, of all lanes. */
async function takeAll(db: SqlClient, limit = 100): Promise<string[]> {
  const taken = []
  for (const lane of await events.waitingLanes(db))
    taken.push(...(await db.transaction(tx => events.takeWaiting(tx, lane, limit))))
  return taken.map(({ id }) => id)
}

onBothDatabases('an event waits to be published once it is committed', async (t, { dbs: [db] }) => {
  const lost = db.transaction(async tx => {
    await events.record(tx, locked, NOW)
    throw new Error('rolled back')
  })
  await t.rejects(lost, /rolled back/)
  t.same(await takeAll(db), [])
  const once = { ...locked, subject: { kind: 'limit', id: 'day' } }
  await db.transaction(async tx => {
    await events.record(tx, locked, NOW)
    await events.recordOnce(tx, once, NOW)
  })
  await db.transaction(tx => events.recordOnce(tx, once, NOW + 1))
  const [first] = await events.history(db, 'ann', card)
  const [second, ...others] = await events.history(db, 'ann', once.subject)
  t.same(others, [])
  const undone = db.transaction(async tx => {
    for (const lane of await events.waitingLanes(tx)) await events.takeWaiting(tx, lane, 100)
    throw new Error('not published')
  })
  await t.rejects(undone, /not published/)
  t.same(await takeAll(db, 1), [first?.id], 'the oldest first')
  t.same(await takeAll(db), [second?.id], 'one that is recorded once waits once')
  t.same(await takeAll(db), [])
})

onBothDatabases('an event that was deleted waits no more', async (t, { dbs: [db] }) => {
  await db.transaction(tx => events.record(tx, locked, NOW))
  await events.collect(db, 10, NOW + 1)
  t.same(await takeAll(db), [])
  t.same(await events.waitingLanes(db), [])
})

onBothDatabases(
  'an alert outside a transaction is recorded with its wait, or not at all',
  async (t, { dbs: [db] }) => {
    const record = alertRecorder(manualClock(NOW))
    const alert = { id: 'day', accountId: 'ann', unit: 'cents', used: 80, resetsAt: null }
    const counted = spendsIn(db, () => memorySpends())
    const give = async (): Promise<unknown> =>
      record(alert as unknown as Parameters<typeof record>[0], counted)
    await rows(db, 'alter table gw_waiting_events rename to gw_waiting_elsewhere')
    await t.rejects(give(), { code: 'ERR_STORE_UNAVAILABLE' })
    await rows(db, 'alter table gw_waiting_elsewhere rename to gw_waiting_events')
    t.same(await rows(db, 'select id from gw_events'), [])
    await give()
    await give()
    t.equal((await takeAll(db)).length, 1)
  },
)
