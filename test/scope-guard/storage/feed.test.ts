import { memoryFeed, redisFeed, type FeedChange, type FeedEntry } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { RevocationFeed } from '@gatewright/scope-guard'
import { memoryRevocationFeed } from '@gatewright/scope-guard/memory'
import { redisRevocationFeed } from '@gatewright/scope-guard/redis'
import { sqlRevocationFeed } from '@gatewright/scope-guard/sqlite'
import pg from 'pg'
import { createClient } from 'redis'
import t from 'tap'
import { hurtPostgres, hurtRedis } from '../../harness/hurt.ts'
import { openPostgres, openRedis, openSqlite, uniqueName } from '../../harness/stores.ts'

const NOW = 1_767_225_600_000
const CHANGES: readonly FeedChange[] = [
  { kind: 'session', id: 'ses_1', at: NOW },
  { kind: 'key', id: 'key_1', version: 2, at: NOW + 1 },
  { kind: 'key', id: 'key_2', version: 5, at: NOW + 2, from: NOW + 9 },
]
const ENTRIES: readonly FeedEntry[] = CHANGES.map((change, index) => ({ ...change, position: index + 1 }))

const appendRedis = async (client: RedisClient, prefix: string, entry: FeedEntry): Promise<void> => {
  const { stream, channel } = redisFeed(prefix)
  const { position, ...change } = entry
  await client.run(stream, ['XADD', stream, `${position}-0`, 'entry', JSON.stringify(change)])
  await client.run(channel, ['PUBLISH', channel, String(position)])
}

const createTable = async (db: SqlClient): Promise<void> => {
  await db.query(`create table gw_feed (position bigint primary key, kind text not null, id text not null,
    version bigint, at bigint not null, starts_at bigint)`)
}
const appendSql = async (db: SqlClient, entry: FeedEntry): Promise<void> => {
  const { position, kind, id, version = null, at, from = null } = entry
  await db.query('insert into gw_feed values ($1, $2, $3, $4, $5, $6)', [
    position,
    kind,
    id,
    version,
    at,
    from,
  ])
}

/** The same reading on every store. */
async function readsInPages(t: { same(found: unknown, wanted: unknown): void }, feed: RevocationFeed) {
  t.same(await feed.after(0, 10), ENTRIES)
  t.same(await feed.after(0, 2), ENTRIES.slice(0, 2))
  t.same(await feed.after(2, 2), ENTRIES.slice(2))
  t.same(await feed.after(3, 2), [])
}

t.test('reads the feed of this process, pushed at once', async t => {
  const source = memoryFeed()
  const feed = memoryRevocationFeed(source)
  let pushed = 0
  const end = await feed.subscribe?.(() => void pushed++)
  source.append(CHANGES)
  await readsInPages(t, feed)
  t.equal(pushed, 1)
  await end?.()
  source.append(CHANGES)
  t.equal(pushed, 1)
})

t.test('reads the stream in Redis, pushed over a channel', async t => {
  const { connections, close } = await openRedis(1)
  const own = createClient({ url: process.env['TEST_REDIS_URL'] as string })
  own.on('error', () => {})
  await own.connect()
  t.teardown(async () => {
    own.destroy()
    await close()
  })
  const [client] = connections
  const prefix = `{${uniqueName()}}:`
  let pushed: () => void = () => {}
  const push = new Promise<void>(resolve => (pushed = resolve))
  const feed = redisRevocationFeed(client!, {
    prefix,
    subscribe: async (channel, listener) => {
      await own.subscribe(channel, listener)
      return () => own.unsubscribe(channel)
    },
  })
  const end = await feed.subscribe?.(pushed)
  for (const entry of ENTRIES) await appendRedis(client!, prefix, entry)
  await push
  await readsInPages(t, feed)
  await end?.()
})

t.test('reads the table in Postgres, pushed by NOTIFY', async t => {
  const { connections, close } = await openPostgres(1, createTable)
  const own = new pg.Client({ connectionString: process.env['TEST_POSTGRES_URL'] as string })
  await own.connect()
  t.teardown(async () => {
    await own.end()
    await close()
  })
  const [db] = connections
  let pushed: () => void = () => {}
  const push = new Promise<void>(resolve => (pushed = resolve))
  const feed = sqlRevocationFeed(db!, {
    subscribe: async (channel, listener) => {
      own.on('notification', listener)
      await own.query(`listen ${channel}`)
      return () => own.query(`unlisten ${channel}`)
    },
  })
  const end = await feed.subscribe?.(pushed)
  for (const entry of ENTRIES) await appendSql(db!, entry)
  await db!.query('notify gw_feed')
  await push
  await readsInPages(t, feed)
  await end?.()
})

t.test('reads the table in SQLite', async t => {
  const { connections, close } = await openSqlite(1, createTable)
  t.teardown(close)
  for (const entry of ENTRIES) await appendSql(connections[0]!, entry)
  await readsInPages(t, sqlRevocationFeed(connections[0]!))
})

t.test('a revocation that cannot be read is a fault, never skipped', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const [client] = connections
  const bad = [
    ['entry', '{"kind":"session","id":"","at":1}'],
    ['entry', '{"kind":"account","id":"a","at":1}'],
    ['entry', '{"kind":"key","id":"a","at":1,"version":"2"}'],
    ['entry', '{"kind":"key","id":"a"}'],
    ['entry', 'null'],
    ['entry', 'nonsense'],
    ['other', '{"kind":"session","id":"a","at":1}'],
  ] as const
  for (const [name, value] of bad) {
    const prefix = `{${uniqueName()}}:`
    await client!.run(prefix, ['XADD', redisFeed(prefix).stream, '1-0', name, value])
    const feed = redisRevocationFeed(client!, { prefix })
    await t.rejects(feed.after(0, 10), { name: 'Fault', code: 'ERR_STORE_REPLY' }, value)
  }
})

t.test('throws a fault when Redis is cut or talks nonsense', async t => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await hurtRedis()
  t.teardown(close)
  const prefix = `{${uniqueName()}}:`
  await appendRedis(healthy, prefix, ENTRIES[0]!)
  for (const client of [cutBefore, cutAfter, malformed]) {
    await t.rejects(redisRevocationFeed(client, { prefix }).after(0, 10), { name: 'Fault' })
  }
})

t.test('throws a fault when Postgres is cut or talks nonsense', async t => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await hurtPostgres(createTable)
  t.teardown(close)
  await appendSql(healthy, ENTRIES[1]!)
  for (const client of [cutBefore, cutAfter, malformed]) {
    await t.rejects(sqlRevocationFeed(client).after(0, 10), { name: 'Fault' })
  }
})
