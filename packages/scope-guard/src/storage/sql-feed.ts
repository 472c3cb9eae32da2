import { orFault, sqlFeed } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { checkedEntry } from './feed-entry.ts'
import type { RevocationFeed } from './feed-port.ts'
import { checkedFeedOptions, type FeedOptions } from './options.ts'

const integerOrUndefined = (value: unknown): number | undefined =>
  value === null ? undefined : toInteger(value)

/** Reads the issuer's feed table in Postgres or SQLite, one statement per page. With `subscribe`, Postgres also notifies of new rows. */
export function sqlRevocationFeed(db: SqlQueries, options: FeedOptions = {}): RevocationFeed {
  const { prefix, subscribe } = checkedFeedOptions('sqlRevocationFeed', options)
  const { table, channel } = sqlFeed(prefix)
  const page = `select position, kind, id, version, at, starts_at from ${table}
    where position > $1 order by position limit $2`
  return {
    async after(position, limit) {
      const found = await rows(db, page, [position, limit])
      return found.map(row => {
        const version = integerOrUndefined(row['version'])
        const from = integerOrUndefined(row['starts_at'])
        return checkedEntry('database', toInteger(row['position']), {
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
