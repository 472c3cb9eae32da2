import { knownOptions, orFault, sqlFeed, type OptionNames } from '@gatewright/kernel'
import { rows, toInteger, type SqlQueries } from '@gatewright/kernel/sql'
import { checkedEntry } from './feed-entry.ts'
import type { RevocationFeed } from './feed-port.ts'

/** Options of `sqlRevocationFeed`. */
export interface SqlFeedOptions {
  /** Prefix of the issuer's tables. Default `gw_`. */
  readonly prefix?: string
  /**
   * Subscribes a listener to a Postgres channel, for push; it needs a connection of its own. With pg:
   * `async (channel, listener) => { own.on('notification', listener); await own.query('listen ' + channel); ... }`.
   */
  readonly subscribe?: (channel: string, listener: () => void) => Promise<() => Promise<unknown>>
}

const OPTIONS: OptionNames<SqlFeedOptions> = { prefix: true, subscribe: true }

const integerOrNone = (value: unknown): number | undefined => (value === null ? undefined : toInteger(value))

/** Reads the issuer's feed table on Postgres or SQLite, one statement per page. */
export function sqlRevocationFeed(db: SqlQueries, options: SqlFeedOptions = {}): RevocationFeed {
  const { prefix, subscribe } = knownOptions('sqlRevocationFeed', options, OPTIONS)
  const { table, channel } = sqlFeed(prefix)
  const page = `select position, kind, id, version, at, starts_at from ${table}
    where position > $1 order by position limit $2`
  return {
    async after(position, limit) {
      const found = await rows(db, page, [position, limit])
      return found.map(row => {
        const version = integerOrNone(row['version'])
        const from = integerOrNone(row['starts_at'])
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
