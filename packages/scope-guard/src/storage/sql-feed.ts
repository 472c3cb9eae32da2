import { FEED_START, orFault, sqlFeed } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, type SqlRow } from '@gatewright/kernel/internal/sql'
import { checkedEntry } from './feed-entry.ts'
import type { RevocationFeed } from './feed-port.ts'
import { checkedFeedOptions, type FeedOptions } from './options.ts'

const integerOrUndefined = (value: unknown): number | undefined =>
  value === null ? undefined : toInteger(value)

const placeOf = (row: SqlRow): { readonly lane: number; readonly position: number } => ({
  lane: toInteger(row['lane']),
  position: toInteger(row['position']),
})

/**
 * Reads a page of every lane, each by the primary key. A union and no join: both stores read each lane from its position, and Postgres reads
 * only the partition of each lane.
 */
function pageOf(table: string): string {
  const lane = (_: number, index: number): string =>
    `select * from (select lane, position, kind, id, version, at, starts_at from ${table}
      where lane = ${index} and position > $${index + 1} order by position limit $${FEED_START.length + 1}) as lane_${index}`
  return FEED_START.map(lane).join(' union all ')
}

/** Reads the issuer's feed table in Postgres or SQLite, one statement per page. With `subscribe`, Postgres also notifies of new rows. */
export function sqlRevocationFeed(db: SqlQueries, options: FeedOptions = {}): RevocationFeed {
  const { prefix, subscribe } = checkedFeedOptions('sqlRevocationFeed', options)
  const { table, channel } = sqlFeed(prefix)
  const page = pageOf(table)
  return {
    async after(positions, limit) {
      const found = await rows(db, page, [...positions, limit])
      return found.map(row => {
        const version = integerOrUndefined(row['version'])
        const from = integerOrUndefined(row['starts_at'])
        return checkedEntry('database', placeOf(row), {
          kind: row['kind'],
          id: row['id'],
          at: toInteger(row['at']),
          ...(version === undefined ? {} : { version }),
          ...(from === undefined ? {} : { from }),
        })
      })
    },
    ...(subscribe && {
      subscribe: listener =>
        orFault('postgres', async () => {
          const end = await subscribe(channel, listener)
          return async () => {
            await end()
          }
        }),
    }),
  }
}
