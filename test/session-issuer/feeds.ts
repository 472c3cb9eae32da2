import { FEED_START, redisFeed, sqlFeed, type FeedChange, type FeedEntry } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'

/** Reads the feed in SQL as every reader does: by the position of each lane. */
export async function readSqlFeed(
  db: SqlQueries,
  positions: readonly number[] = FEED_START,
  prefix?: string,
): Promise<FeedEntry[]> {
  const { table } = sqlFeed(prefix)
  const places = positions.map((position, lane) => `('${lane}', ${position})`).join(', ')
  const { rows } = await db.query(`with places (lane_read, reached) as (values ${places})
    select * from ${table} join places on lane = lane_read where position > reached order by lane, position`)
  return rows.map(row => ({
    lane: toInteger(row['lane']),
    position: toInteger(row['position']),
    kind: row['kind'] as FeedEntry['kind'],
    id: row['id'] as string,
    ...(row['version'] === null ? {} : { version: toInteger(row['version']) }),
    at: toInteger(row['at']),
    ...(row['starts_at'] === null ? {} : { from: toInteger(row['starts_at']) }),
  }))
}

/** Reads the feed in Redis. */
export async function readRedisFeed(
  client: RedisClient,
  positions: readonly number[],
  prefix?: string,
): Promise<FeedEntry[]> {
  const { streams } = redisFeed(prefix)
  const readLane = async (lane: number, stream: string): Promise<FeedEntry[]> => {
    const reply = await client.run(stream, ['XRANGE', stream, `(${positions[lane]}-0`, '+'])
    return (reply as [string, string[]][]).map(([id, fields]) => ({
      ...(JSON.parse(fields[1] as string) as FeedChange),
      lane,
      position: Number(id.split('-')[0]),
    }))
  }
  return (await Promise.all(streams.map((stream, lane) => readLane(lane, stream)))).flat()
}

/** Appends an entry in SQL at its lane and position. */
export async function appendSqlFeed(db: SqlQueries, entry: FeedEntry): Promise<void> {
  const { lane, position, kind, id, version = null, at, from = null } = entry
  await db.query(
    `insert into ${sqlFeed().table} (lane, position, kind, id, version, at, starts_at) values ($1, $2, $3, $4, $5, $6, $7)`,
    [String(lane), position, kind, id, version, at, from],
  )
}

/** Appends an entry in Redis at its lane and position, and notifies readers, as the issuer does. */
export async function appendRedisFeed(client: RedisClient, prefix: string, entry: FeedEntry): Promise<void> {
  const { streams, channel } = redisFeed(prefix)
  const { lane, position, ...change } = entry
  const stream = streams[lane] as string
  await client.run(stream, ['XADD', stream, `${position}-0`, 'entry', JSON.stringify(change)])
  await client.run(channel, ['PUBLISH', channel, String(position)])
}
