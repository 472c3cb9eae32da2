import { FEED_START, orFault, sqlFeed } from '@gatewright/kernel'
import { rows, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { checkedEntry } from './feed-entry.ts'
import type { RevocationFeed } from './feed-port.ts'
import { checkedFeedOptions, type FeedOptions } from './options.ts'

const integerOrUndefined = (value: unknown): number | undefined =>
  value === null ? undefined : toInteger(value)

const placeOf = (row: SqlRow): { readonly lane: number; readonly position: number } => ({
  lane: toInteger(row['lane']),
  position: toInteger(row['position']),
})

const COLUMNS = 'lane, position, kind, id, version, at, starts_at'
/** The parameter of a page's limit, behind those of the positions. */
const LIMIT = `$${FEED_START.length + 1}`

/** Reads a page of every lane, each by the primary key from its position, however many entries there are. */
function pageOfEachLane(table: string): string {
  const lane = (_: number, index: number): string =>
    `select * from (select ${COLUMNS} from ${table}
      where lane = '${index}' and position > $${index + 1} order by position limit ${LIMIT}) as lane_${index}`
  return FEED_START.map(lane).join(' union all ')
}

/**
 * Reads a page of every lane by one scan of the index, which looks at all entries that wait. If none or few wait, this costs Postgres less than
 * a union of 32 statements, and on several machines it is one statement instead of one for each lane.
 */
function pageByOneScan(table: string): string {
  const after = FEED_START.map((_, index) => `(lane = '${index}' and position > $${index + 1})`).join(' or ')
  return `select ${COLUMNS} from (
      select ${COLUMNS}, row_number() over (partition by lane order by position) as place from ${table} where ${after}
    ) as page where place <= ${LIMIT} order by position`
}

/** Reads the issuer's feed table in Postgres or SQLite, one statement per page. With `subscribe`, Postgres also notifies of new rows. */
export function sqlRevocationFeed(db: SqlQueries, options: FeedOptions = {}): RevocationFeed {
  const { prefix, subscribe } = checkedFeedOptions('sqlRevocationFeed', options)
  const { table, channel } = sqlFeed(prefix)
  const [ofEachLane, byOneScan] = [pageOfEachLane(table), pageByOneScan(table)]
  /** Whether many entries may wait: at first, and after a full page. */
  let isBehind = true
  return {
    async after(positions, limit) {
      // SQLite runs a union without further cost.
      const page = isBehind || db.dialect === 'sqlite' ? ofEachLane : byOneScan
      const found = await rows(db, page, [...positions, limit])
      isBehind = found.length >= limit
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
