import { redisFeed, sqlFeed, type FeedChange, type FeedEntry } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'

/** Reads the feed in SQL as every reader does: by position. */
export async function readSqlFeed(db: SqlQueries, after: number, prefix?: string): Promise<FeedEntry[]> {
  const { table } = sqlFeed(prefix)
  const { rows } = await db.query(`select * from ${table} where position > $1 order by position`, [after])
  return rows.map(row => ({
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
  after: number,
  prefix?: string,
): Promise<FeedEntry[]> {
  const { stream } = redisFeed(prefix)
  const reply = await client.run(stream, ['XRANGE', stream, `(${after}-0`, '+'])
  return (reply as [string, string[]][]).map(([id, fields]) => ({
    ...(JSON.parse(fields[1] as string) as FeedChange),
    position: Number(id.split('-')[0]),
  }))
}
