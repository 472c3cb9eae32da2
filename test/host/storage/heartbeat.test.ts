// A database that has lost heartbeats that it had acknowledged has lost other writes with them.
import { migrateKit } from '@gatewright/host/internal'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { openPostgres, openSqlite } from '../../harness/stores.ts'
import { collectHeartbeats, createHeartbeat } from '#packages/host/dist/storage/heartbeat.js'
import {
  acceptLostHistory,
  countOpenLosses,
  listLostHistory,
} from '#packages/host/dist/storage/lost-history.js'

const DAY_MS = 86_400_000

for (const [dialect, open] of [
  ['sqlite', openSqlite],
  ['postgres', openPostgres],
] as const) {
  const opened = async (
    t: Test,
  ): Promise<{
    db: SqlClient
    clock: ManualClock
    beat: ReturnType<typeof createHeartbeat>
    beats: (to: string) => Promise<unknown>
  }> => {
    const { connections, close } = await open(1, migrateKit)
    t.teardown(close)
    const db = connections[0] as SqlClient
    const clock = manualClock(1_000_000)
    const beats = (to: string): Promise<unknown> => rows(db, `update gw_heartbeats set beats = ${to}`)
    return { db, clock, beat: createHeartbeat(db, clock), beats }
  }

  t.test(`${dialect}: a database that counts every heartbeat has lost nothing`, async t => {
    const { db, beat, beats } = await opened(t)
    for (let n = 0; n < 3; n++) t.equal(await beat(), undefined)
    await beats('beats + 5')
    t.equal(await beat(), undefined, 'heartbeats without a reply may have been counted')
    t.match(await rows(db, 'select beats from gw_heartbeats'), [{ beats: /^9$/ }])
    t.equal(await countOpenLosses(db), 0)
  })

  t.test(`${dialect}: one heartbeat less is a loss, and says which writes are gone`, async t => {
    const { db, clock, beat, beats } = await opened(t)
    await beat()
    clock.advance(5000)
    await beat()
    await rows(db, 'update gw_heartbeats set beats = beats - 1, at = at - 5000')
    clock.advance(5000)
    const loss = await beat()
    t.match(loss, { foundAt: 1_010_000, acknowledgedAt: 1_005_000, keptAt: 1_000_000, acceptedAt: null })
    t.same(await listLostHistory(db, 10), [loss])
    t.equal(await beat(), undefined, 'it is found once')
    await beats('0')
    t.ok(await beat(), 'and the next loss again')
    t.equal(await countOpenLosses(db), 2)
    t.equal(await acceptLostHistory(db, 7), 2)
    t.equal(await acceptLostHistory(db, 8), 0)
    t.equal(await countOpenLosses(db), 0)
    t.match(await listLostHistory(db, 1), [{ acceptedAt: 7 }])
  })

  t.test(`${dialect}: a database without the row of this host has lost all of its heartbeats`, async t => {
    const { db, beat } = await opened(t)
    await beat()
    await rows(db, 'delete from gw_heartbeats')
    t.match(await beat(), { acknowledgedAt: 1_000_000, keptAt: null })
  })

  t.test(`${dialect}: two databases that take turns are found at each turn`, async t => {
    const { db, beat } = await opened(t)
    await beat()
    const first = await rows(db, 'select * from gw_heartbeats')
    await rows(db, 'delete from gw_heartbeats')
    t.ok(await beat(), 'the other database has not counted the first heartbeat')
    await beat()
    await rows(db, 'delete from gw_heartbeats')
    const { host_id: hostId, at } = first[0] as { host_id: string; at: number }
    await rows(db, 'insert into gw_heartbeats (host_id, beats, at, previous_at) values ($1, 1, $2, $2)', [
      hostId,
      at,
    ])
    t.ok(await beat(), 'nor the first one those of the other')
  })

  t.test(
    `${dialect}: a host that paused for more than 7 days does not take its deleted row for a loss`,
    async t => {
      const { db, clock, beat } = await opened(t)
      await beat()
      clock.advance(7 * DAY_MS)
      await rows(db, 'delete from gw_heartbeats')
      t.ok(await beat())
      clock.advance(7 * DAY_MS + 1)
      await rows(db, 'delete from gw_heartbeats')
      t.equal(await beat(), undefined)
    },
  )

  t.test(
    `${dialect}: rows of hosts that have ended are deleted 14 days after their last heartbeat`,
    async t => {
      const { db, clock, beat } = await opened(t)
      await beat()
      t.equal(await collectHeartbeats(db, 10, clock.now() + 14 * DAY_MS), 0)
      t.equal(await collectHeartbeats(db, 0, clock.now() + 14 * DAY_MS + 1), 0)
      t.equal(await collectHeartbeats(db, 10, clock.now() + 14 * DAY_MS + 1), 1)
    },
  )

  t.test(`${dialect}: simultaneous calls share one heartbeat`, async t => {
    const { db, beat } = await opened(t)
    t.same(await Promise.all([beat(), beat(), beat()]), [undefined, undefined, undefined])
    t.match(await rows(db, 'select beats from gw_heartbeats'), [{ beats: /^1$/ }])
  })

  t.test(`${dialect}: a loss that could not be recorded is recorded by the next call`, async t => {
    const { db, clock, beats } = await opened(t)
    let fails = false
    const broken: SqlClient = {
      ...db,
      query: (text, values) =>
        fails && text.includes('gw_lost_history')
          ? Promise.reject(new Error('the connection is cut'))
          : db.query(text, values),
    }
    const beat = createHeartbeat(broken, clock)
    await beat()
    await beat()
    await beats('beats - 1')
    fails = true
    await t.rejects(beat(), { code: 'ERR_STORE_UNAVAILABLE' })
    await t.rejects(beat(), { code: 'ERR_STORE_UNAVAILABLE' })
    fails = false
    const loss = await beat()
    t.match(loss, { acknowledgedAt: 1_000_000, keptAt: 1_000_000 })
    t.same(await listLostHistory(db, 10), [loss])
    t.equal(await beat(), undefined, 'it is found once')
  })

  t.test(`${dialect}: at most 100 losses wait for an operator`, async t => {
    const { db, beat, beats } = await opened(t)
    await beat()
    for (let n = 0; n < 101; n++) {
      await beats('0')
      t.ok(await beat())
      await beat()
    }
    t.equal(await countOpenLosses(db), 100)
  })
}
