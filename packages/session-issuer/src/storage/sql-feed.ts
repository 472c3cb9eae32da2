import { sqlFeed, type FeedChange, type EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { defer, lockName, takesDue } from '@gatewright/kernel/internal/sql'
import { parameters } from './sql-parameters.ts'

/** How many columns an entry has. */
const COLUMNS = 6
/** Maximum number of entries that one statement appends, as a power of two. */
const MOST_ROWS_LOG2 = 6

/** What a transaction has done, and the revocations that it appends to the feed. */
interface Revoking<T> {
  readonly result: T
  readonly changes: readonly FeedChange[]
}

/** The writing side of the revocation feed. */
export interface SqlFeed {
  /**
   * Runs a transaction of an account with a lane, appends its revocations with the commit, and then wakes the readers. On Postgres the
   * append holds the lock of the account's lane until the commit, so the positions of a lane are assigned in commit order. A
   * position from the sequence alone could become visible after a larger one, and readers would miss it. Nobody waits for
   * another lane, and a transaction has one lane, so there is no deadlock.
   */
  transaction<T>(lane: string, work: (tx: SqlQueries) => Promise<Revoking<T>>): Promise<T>
  /** Deletes up to `limit` entries that were appended before an instant, and returns their number. */
  collect(tx: SqlQueries, limit: number, before: EpochMs): Promise<number>
}

/** Makes the writing side of the feed for one table prefix. */
export function sqlFeedWriter(db: SqlClient, prefix: string): SqlFeed {
  const { table, channel } = sqlFeed(prefix)
  const insertOf = (count: number): string => {
    const tuples = Array.from({ length: count }, (_, n) => `(${parameters(COLUMNS, COLUMNS * n + 1)})`)
    return `insert into ${table} (lane, kind, id, version, at, starts_at) values ${tuples.join(', ')}`
  }

  /** Sends its statements in the round trip of the commit, which is how long other changes of the lane wait. */
  const append = async (tx: SqlQueries, lane: string, changes: readonly FeedChange[]): Promise<void> => {
    if (changes.length === 0) return
    await lockName(tx, prefix, { kind: 'feed', accountId: lane })
    for (let done = 0; done < changes.length; ) {
      // Powers of two, so that there are few texts: a connection keeps each prepared text.
      const count = 2 ** Math.min(Math.floor(Math.log2(changes.length - done)), MOST_ROWS_LOG2)
      const values = changes
        .slice(done, done + count)
        .flatMap(({ kind, id, version, at, from }) => [lane, kind, id, version ?? null, at, from ?? null])
      await defer(tx, insertOf(count), values)
      done += count
    }
  }

  /**
   * Not in the transaction: Postgres lets only one transaction with a NOTIFY commit at a time, and the others wait for its write to the disk.
   * A failure is not reported, because the change is committed and readers poll.
   */
  const wakeReaders = shared(async () => {
    if (db.dialect === 'postgres') await rows(db, 'select pg_notify($1, $2)', [channel, '']).catch(() => [])
  })

  return {
    async transaction(lane, work) {
      const { result, changes } = await db.transaction(async tx => {
        const done = await work(tx)
        await append(tx, lane, done.changes)
        return done
      })
      if (changes.length > 0) await wakeReaders()
      return result
    },
    async collect(tx, limit, before) {
      // SQLite 3.45 deletes no row by a pair with the rowid, which the position is there.
      const key = tx.dialect === 'postgres' ? 'lane, position' : 'position'
      const taken = await takesDue(db, { table, key, due: 'at < $1', order: 'at', limit: '$2' })
      return (await rows(tx, `delete from ${table} where ${taken} returning position`, [before, limit]))
        .length
    },
  }
}

/** Runs `work` after each call, once for all calls that come while an earlier run lasts. `work` must not reject. */
function shared(work: () => Promise<void>): () => Promise<void> {
  let running = Promise.resolve()
  let next: Promise<void> | undefined
  return () => {
    next ??= running.then(() => {
      next = undefined
      running = work()
      return running
    })
    return next
  }
}
