import { FEED_START, memoryFeed, redisFeed, type FeedEntry, type MemoryFeed } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import { failingTests } from '@gatewright/kernel/testing'
import type { RevocationFeed } from '@gatewright/scope-guard'
import { memoryRevocationFeed } from '@gatewright/scope-guard/memory'
import { redisRevocationFeed } from '@gatewright/scope-guard/redis'
import { sqlRevocationFeed } from '@gatewright/scope-guard/sqlite'
import { revocationFeedContract } from '@gatewright/scope-guard/testing'
import pg from 'pg'
import { createClient } from 'redis'
import t from 'tap'
import { buffersOf, explainQueries, nodesOf } from '../../harness/databases/explain.ts'
import { faultyPostgres, faultyRedis } from '../../harness/databases/faulty.ts'
import { runner } from '../../harness/runner.ts'
import { openPostgres, openRedis, openSqlite, uniqueName } from '../../harness/stores.ts'
import { appendRedisFeed, appendSqlFeed } from '../../session-issuer/feeds.ts'

const NOW = 1_767_225_600_000
const ENTRY: FeedEntry = { kind: 'key', id: 'key_1', version: 2, at: NOW, lane: 5, position: 1 }

const createTable = async (db: SqlClient): Promise<void> => {
  const lane = db.dialect === 'sqlite' ? 'text' : 'text collate "C"'
  await db.query(`create table gw_feed (lane ${lane} not null, position bigint not null, kind text not null, id text not null,
    version bigint, at bigint not null, starts_at bigint, primary key (lane, position))`)
}
/** Appends to a feed in memory, which decides the positions itself. */
const appendMemory = (source: MemoryFeed) => async (entries: readonly FeedEntry[]) => {
  for (const { lane, position: _position, ...change } of entries) source.append([change], lane)
}

revocationFeedContract(runner, 'memory', async () => {
  const source = memoryFeed()
  return {
    feed: memoryRevocationFeed(source),
    append: appendMemory(source),
    close: async () => {},
  }
})

revocationFeedContract(runner, 'Redis, by a channel', async () => {
  const { connections, close } = await openRedis(1)
  const own = createClient({ url: process.env['TEST_REDIS_URL'] as string })
  own.on('error', () => {})
  await own.connect()
  const [client] = connections
  const prefix = `${uniqueName()}:`
  const subscribe = async (channel: string, listener: () => void) => {
    await own.subscribe(channel, listener)
    return () => own.unsubscribe(channel)
  }
  return {
    feed: redisRevocationFeed(client!, { prefix, subscribe }),
    append: async entries => {
      for (const entry of entries) await appendRedisFeed(client!, prefix, entry)
    },
    close: async () => {
      own.destroy()
      await close()
    },
  }
})

revocationFeedContract(runner, 'Postgres, by NOTIFY', async () => {
  const { connections, close } = await openPostgres(1, createTable)
  const own = new pg.Client({ connectionString: process.env['TEST_POSTGRES_URL'] as string })
  await own.connect()
  const [db] = connections
  // The channel is the database's, not the schema's: a name of its own keeps parallel tests apart.
  const mine = uniqueName()
  const subscribe = async (_channel: string, listener: () => void) => {
    own.on('notification', listener)
    await own.query(`listen ${mine}`)
    return () => own.query(`unlisten ${mine}`)
  }
  return {
    feed: sqlRevocationFeed(db!, { subscribe }),
    append: async entries => {
      for (const entry of entries) await appendSqlFeed(db!, entry)
      await db!.query(`notify ${mine}`)
    },
    close: async () => {
      await own.end()
      await close()
    },
  }
})

revocationFeedContract(runner, 'SQLite', async () => {
  const { connections, close } = await openSqlite(1, createTable)
  const [db] = connections
  return {
    feed: sqlRevocationFeed(db!),
    append: async entries => {
      for (const entry of entries) await appendSqlFeed(db!, entry)
    },
    close,
  }
})

t.test(
  'a poll of a feed without new entries reads no row of Postgres, and three pages of a lane at most',
  async t => {
    const { connections, close } = await openPostgres(1, createTable)
    t.teardown(close)
    const [db] = connections
    const lanes = FEED_START.length
    await db!.query(`insert into gw_feed select cast(lane as text), position, 'key', 'key_' || position, 1, 1, null
    from generate_series(0, ${lanes - 1}) lane, generate_series(1, 500) position`)
    await db!.query('analyze gw_feed')
    const explained = explainQueries(text => text.includes('gw_feed'), 2)
    t.teardown(explained.stop)
    const feed = sqlRevocationFeed(db!)
    t.same(await feed.after(Array(lanes).fill(500), 100), [], 'the first page')
    explained.found.length = 0
    t.same(await feed.after(Array(lanes).fill(500), 100), [])
    t.equal(
      (await feed.after(Array(lanes).fill(498), 1)).length,
      lanes,
      'and with new ones a page of each lane',
    )
    explained.stop()
    const [idle, busy] = explained.found
    for (const plan of idle?.plans ?? []) {
      t.ok(buffersOf(plan) <= 3 * lanes, `${buffersOf(plan)} pages`)
      t.ok(buffersOf(plan) >= lanes, 'counts pages')
    }
    for (const plan of [...(idle?.plans ?? []), ...(busy?.plans ?? [])])
      for (const node of nodesOf(plan).filter(each => each['Relation Name'] === 'gw_feed')) {
        t.match(node['Node Type'], /^(Index|Bitmap Heap) Scan$/)
        t.equal(node['Rows Removed by Filter'] ?? 0, 0)
      }
    t.equal(busy?.plans.length, 2)
  },
)

t.test('the contract detects readers that skip, repeat or reorder entries or drop members', async t => {
  const broken: Record<string, (feed: RevocationFeed) => RevocationFeed['after']> = {
    'returns entries from a position on, itself included': feed => (positions, limit) =>
      feed.after(
        positions.map(position => position - 1),
        limit,
      ),
    'ignores the limit': feed => positions => feed.after(positions, 1000),
    'newest first': feed => async (positions, limit) => [...(await feed.after(positions, limit))].reverse(),
    'drops the start': feed => async (positions, limit) =>
      (await feed.after(positions, limit)).map(entry => ({ ...entry, from: 0 })),
    'reads all lanes from the largest position': feed => (positions, limit) =>
      feed.after(
        positions.map(() => Math.max(...positions)),
        limit,
      ),
    'reads all lanes up to one limit': feed => async (positions, limit) =>
      (await feed.after(positions, limit)).slice(0, limit),
    'forgets the last lane': feed => async (positions, limit) =>
      (await feed.after(positions, limit)).filter(({ lane }) => lane < FEED_START.length - 1),
    'confuses two lanes': feed => async (positions, limit) =>
      (await feed.after(positions, limit)).map(entry => ({ ...entry, lane: Math.min(entry.lane, 30) })),
  }
  for (const [name, after] of Object.entries(broken)) {
    const failed = await failingTests(contract =>
      revocationFeedContract(contract, name, async () => {
        const source = memoryFeed()
        const feed = memoryRevocationFeed(source)
        return {
          feed: { ...feed, after: after(feed) },
          append: appendMemory(source),
          close: async () => {},
        }
      }),
    )
    t.ok(failed.length > 0, name)
  }
})

t.test('throws a fault for a malformed revocation and does not skip it', async t => {
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
    ['entry', '{"kind":"session","id":"a","at":1}', '1-1'],
  ] as const
  for (const [name, value, id = '1-0'] of bad) {
    const prefix = `${uniqueName()}:`
    await client!.run(prefix, ['XADD', redisFeed(prefix).streams[0] as string, id, name, value])
    const feed = redisRevocationFeed(client!, { prefix })
    await t.rejects(feed.after(FEED_START, 10), { name: 'Fault', code: 'ERR_STORE_REPLY' }, value)
  }
})

t.test('throws a fault when the connection to Redis is cut or its reply is malformed', async t => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await faultyRedis()
  t.teardown(close)
  const prefix = `${uniqueName()}:`
  await appendRedisFeed(healthy, prefix, ENTRY)
  for (const client of [cutBefore, cutAfter, malformed]) {
    await t.rejects(redisRevocationFeed(client, { prefix }).after(FEED_START, 10), { name: 'Fault' })
  }
})

t.test('throws a fault when the connection to Postgres is cut or its reply is malformed', async t => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await faultyPostgres(createTable)
  t.teardown(close)
  await appendSqlFeed(healthy, ENTRY)
  for (const client of [cutBefore, cutAfter, malformed]) {
    await t.rejects(sqlRevocationFeed(client).after(FEED_START, 10), { name: 'Fault' })
  }
})

t.test(
  'subscribes only by the function that it is given, and waits for the end of the subscription',
  async t => {
    let ended = 0
    const subscribe = async () => async () => {
      await new Promise(setImmediate)
      ended++
    }
    const client: RedisClient = { run: async () => [] }
    const db: SqlQueries = { dialect: 'postgres', query: async () => ({ rows: [] }) }
    t.equal(redisRevocationFeed(client).subscribe, undefined)
    t.equal(sqlRevocationFeed(db).subscribe, undefined)
    const feeds = [redisRevocationFeed(client, { subscribe }), sqlRevocationFeed(db, { subscribe })]
    for (const [index, feed] of feeds.entries()) {
      const end = await feed.subscribe?.(() => {})
      await end?.()
      t.equal(ended, index + 1)
    }
  },
)
