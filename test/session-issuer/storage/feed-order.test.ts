// The feed is ordered within a lane, and lanes do not wait for each other. A sequence alone does not order commits: a transaction with position 1 may commit after the one with position 2, and
// a reader that has read position 2 never reads 1.
import { randomUUID } from 'node:crypto'
import { FEED_START, positionsAfter } from '@gatewright/kernel'
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import { migrateCredentials, postgresCredentials } from '@gatewright/session-issuer/postgres'
import { laneOfAccount } from '@gatewright/session-issuer/internal'
import { keyRecord, sessionRecord } from '#packages/session-issuer/dist/testing/sample-records.js'
import t from 'tap'
import { openPostgres } from '../../harness/stores.ts'
import { readSqlFeed } from '../feeds.ts'

/** A promise and the function that resolves it. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = (): void => {}
  const passed = new Promise<void>(resolve => {
    open = resolve
  })
  return { passed, open }
}

/**
 * A client whose transactions wait for `release` before they commit, when they have run all of their statements; `reached` resolves when
 * one waits. So does a host that freezes.
 */
function held(db: SqlClient): { db: SqlClient; reached: Promise<void>; release: () => void } {
  const [reached, released] = [gate(), gate()]
  const transaction: SqlClient['transaction'] = work =>
    db.transaction(async tx => {
      const result = await work({
        dialect: tx.dialect,
        query: (text, values) => tx.query(text, values),
      })
      reached.open()
      await released.passed
      return result
    })
  return { db: { ...db, transaction }, reached: reached.passed, release: released.open }
}

/** A client that never takes the feed's lock, as if positions came from the sequence alone. */
function unlocked(db: SqlClient): SqlClient {
  const withoutLock = (tx: SqlQueries): SqlQueries => ({
    dialect: tx.dialect,
    query: async (text, values) => (/advisory|lock_rows/.test(text) ? { rows: [] } : tx.query(text, values)),
  })
  return { ...withoutLock(db), transaction: work => db.transaction(tx => work(withoutLock(tx))) }
}

type Revoke = (db: SqlClient, which: 0 | 1) => Promise<unknown>

/** Stores a row of each of two accounts; `revoke` revokes that of one of them. */
type Prepare = (
  db: SqlClient,
  accounts: readonly [string, string],
) => Promise<{ readonly ids: readonly string[]; readonly revoke: Revoke }>

/** An account whose revocations are in a lane. */
function accountIn(lane: number): string {
  let account = randomUUID() as string
  while (laneOfAccount(account) !== lane) account = randomUUID()
  return account
}
const sameLane = () => [accountIn(7), accountIn(7)] as const
const otherLanes = () => [accountIn(7), accountIn(8)] as const

/** Lets the first revocation append and wait, starts the second, reads, lets the first commit, and reads on. */
async function interleave(
  wrap: (db: SqlClient) => SqlClient,
  prepare: Prepare,
  accounts: readonly [string, string],
): Promise<{ missed: string[]; secondWaited: boolean }> {
  const { connections, close } = await openPostgres(3, migrateCredentials)
  try {
    const [one, two, reader] = connections as [SqlClient, SqlClient, SqlClient]
    const { ids, revoke } = await prepare(reader, accounts)
    const { rows } = await two.query('select pg_backend_pid() as pid')
    const pid = rows[0]?.['pid'] as number
    const first = held(wrap(one))
    const firstDone = revoke(first.db, 0)
    await first.reached
    const done = { second: false }
    const second = revoke(wrap(two), 1).finally(() => {
      done.second = true
    })
    // Until the second either waits for the first one's lock or has committed.
    const waiting = async (): Promise<boolean> =>
      (
        await reader.query(`select 1 from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`, [
          pid,
        ])
      ).rows.length > 0
    while (!done.second && !(await waiting()));
    const secondWaited = !done.second
    const seen = await readSqlFeed(reader)
    first.release()
    await Promise.all([firstDone, second])
    seen.push(...(await readSqlFeed(reader, positionsAfter(FEED_START, seen))))
    return { missed: ids.filter(id => !seen.some(entry => entry.id === id)), secondWaited }
  } finally {
    await close()
  }
}

const sessions: Prepare = async (db, [first, second]) => {
  const both = [sessionRecord({ accountId: first }), sessionRecord({ accountId: second })] as const
  for (const one of both) await postgresCredentials(db).sessions.insert(one, [])
  return {
    ids: both.map(one => one.sessionId),
    revoke: (client, which) =>
      postgresCredentials(client).sessions.revoke(both[which].sessionId, both[which].issuedAt),
  }
}

const keys: Prepare = async (_db, [first, second]) => {
  const both = [keyRecord(first), keyRecord(second)] as const
  return {
    ids: both.map(one => one.id),
    revoke: (client, which) => {
      const key = both[which]
      const feed = [{ kind: 'key', id: key.id, version: 2, at: key.createdAt }] as const
      return postgresCredentials(client).keys.commit(key.accountId, 0, { keys: [key], policies: [], feed })
    },
  }
}

for (const [what, prepare] of Object.entries({ sessions, keys })) {
  t.test(
    `of two interleaved transactions that revoke ${what} of one lane the later waits, and readers miss neither`,
    async t => {
      t.same(await interleave(db => db, prepare, sameLane()), { missed: [], secondWaited: true })
    },
  )

  t.test(
    `a host that freezes while it revokes ${what} holds up no other lane, and readers miss neither`,
    async t => {
      t.same(await interleave(db => db, prepare, otherLanes()), { missed: [], secondWaited: false })
    },
  )

  t.test(`without the lock a reader misses one of the ${what}, so the test above can fail`, async t => {
    const { missed, secondWaited } = await interleave(unlocked, prepare, sameLane())
    t.equal(missed.length, 1)
    t.equal(secondWaited, false)
  })
}
