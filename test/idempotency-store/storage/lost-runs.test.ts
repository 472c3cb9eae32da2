import { lostRuns, migrateIdempotency, postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import {
  lostRuns as sqliteLostRuns,
  migrateIdempotency as migrateSqlite,
  sqliteIdempotency,
} from '@gatewright/idempotency-store/sqlite'
import type { SqlClient } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import t from 'tap'
import { openPostgres, openSqlite } from '../../harness/stores.ts'

const NOW = 1_767_225_600_000
const LEASE = NOW + 60_000
const RESPONSE = {
  status: 200,
  headers: [['content-type', 'application/json']] as const,
  body: '{"data":{}}',
}

const STORES = {
  SQLite: { open: openSqlite, migrate: migrateSqlite, storage: sqliteIdempotency, runs: sqliteLostRuns },
  Postgres: { open: openPostgres, migrate: migrateIdempotency, storage: postgresIdempotency, runs: lostRuns },
} as const

for (const [name, { open, migrate, storage, runs }] of Object.entries(STORES)) {
  await t.test(`lost runs in ${name}`, async t => {
    const { connections, close } = await open(2, migrate)
    t.teardown(close)
    const [db, other] = connections as [SqlClient, SqlClient]
    const records = storage(db)
    const begin = (key: string, at = NOW) => records.begin(key, 'f', at + 60_000, at)

    await t.test('lists runs from the end of their lease on, and no running, done or free ones', async t => {
      await begin('lease')
      await begin('reported')
      await records.end('reported', NOW, { state: 'lost' }, NOW)
      for (const [key, state] of [['done', 'done'] as const, ['free', 'free'] as const]) {
        await begin(key)
        await records.end(key, NOW, { state, response: '{}', expiresAt: LEASE }, NOW)
      }
      const reported = { digest: 'reported', fence: NOW, effectId: 'f', leaseEndedAt: null }
      t.same(await runs(db).list(10, LEASE - 1), [reported])
      t.same(await runs(db).list(10, LEASE), [
        reported,
        { ...reported, digest: 'lease', leaseEndedAt: LEASE },
      ])
      t.same(await runs(db).list(1, LEASE), [reported])
    })

    await t.test(
      'frees the key of a run that never happened, or stores the response of one that did',
      async t => {
        const decide = runs(db)
        t.ok(await decide.resolve({ digest: 'lease', fence: NOW }, { state: 'never_happened' }, LEASE))
        t.match(await records.begin('lease', 'f', LEASE + 60_000, LEASE), { state: 'started' })
        const completed = { state: 'completed', response: RESPONSE } as const
        t.ok(await decide.resolve({ digest: 'reported', fence: NOW }, completed, LEASE))
        t.match(await records.begin('reported', 'f', LEASE + 60_000, LEASE), {
          state: 'done',
          response: String,
        })
        const late = LEASE + 86_400_000
        t.match(await records.begin('reported', 'f', late + 60_000, late), { state: 'started' }, 'for a day')
        await t.rejects(
          decide.resolve(
            { digest: 'x', fence: 1 },
            { ...completed, response: { ...RESPONSE, status: 503 } },
            LEASE,
          ),
          { name: 'TypeError', message: /final status/ },
        )
      },
    )

    await t.test('decides nothing about a run that is not lost, is another one, or was decided', async t => {
      await begin('again')
      const decide = (fence: number, at: number) =>
        runs(db).resolve({ digest: 'again', fence }, { state: 'never_happened' }, at)
      t.notOk(await decide(NOW, LEASE - 1), 'its lease has not ended')
      t.notOk(await decide(NOW + 1, LEASE), 'another fence')
      t.ok(await decide(NOW, LEASE))
      t.notOk(await decide(NOW, LEASE), 'decided before')
      t.same(
        (await runs(db).list(10, LEASE)).filter(({ digest }) => digest === 'again'),
        [],
      )
    })

    await t.test('keeps a response as long as the hosts do, also if its clock is behind', async t => {
      const retentionMs = 7 * 86_400_000
      await begin('week')
      await records.end('week', NOW, { state: 'lost' }, NOW)
      const decided = { state: 'completed', response: RESPONSE } as const
      const behind = NOW - 90_000_000
      t.ok(await runs(db, { retentionMs }).resolve({ digest: 'week', fence: NOW }, decided, behind))
      const last = NOW + retentionMs - 1
      t.match(await records.begin('week', 'f', last + 60_000, last), { state: 'done' })
      t.match(await records.begin('week', 'f', last + 60_001, last + 1), { state: 'started' })
    })

    await t.test('of decisions made at once by two operators, one counts', async t => {
      for (const round of [1, 2, 3, 4, 5]) {
        const run = { digest: `round ${round}`, fence: NOW }
        await begin(run.digest)
        const decided = await race(6, index => {
          const operator = runs(index % 2 === 0 ? db : other)
          return index < 3
            ? operator.resolve(run, { state: 'never_happened' }, LEASE)
            : operator.resolve(run, { state: 'completed', response: RESPONSE }, LEASE)
        })
        t.equal(decided.filter(Boolean).length, 1)
      }
    })
  })
}

t.test('refuses an unknown option', async t => {
  const db = { dialect: 'sqlite' as const, query: async () => ({ rows: [] }) }
  t.throws(() => lostRuns(db, { tabel: 'x' } as never), { name: 'TypeError', message: /tabel/ })
  t.throws(() => lostRuns(db, { retentionMs: 59_999 }), { name: 'TypeError', message: /retentionMs/ })
})
