// The contract suites of the stores' ports, and simultaneous requests at a rate limit, on real Postgres and Redis under each setting that an
// application makes for pg, Postgres, OpenTelemetry, ioredis and node-redis.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { idempotencyStorageContract } from '@gatewright/idempotency-store/testing'
import { postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { redisIdempotency } from '@gatewright/idempotency-store/redis'
import type { FeedEntry } from '@gatewright/kernel'
import { fromIoredis, fromNodeRedis, type RedisClient } from '@gatewright/kernel/redis'
import { fromPgPool, type SqlClient } from '@gatewright/kernel/sql'
import { collectTests, race, sqlClientContract, type TestRunner } from '@gatewright/kernel/testing'
import { migrateAliasUsage, postgresAliasUsage } from '@gatewright/legacy-alias-router/postgres'
import { redisAliasUsage } from '@gatewright/legacy-alias-router/redis'
import { aliasUsageStorageContract } from '@gatewright/legacy-alias-router/testing'
import { createRateLimit, type LimiterStore, type RevocationFeed } from '@gatewright/scope-guard'
import { postgresSpends, sqlRevocationFeed } from '@gatewright/scope-guard/postgres'
import { redisRevocationFeed, redisSpends } from '@gatewright/scope-guard/redis'
import { revocationFeedContract, spendStorageContract } from '@gatewright/scope-guard/testing'
import { migrateCredentials, postgresCredentials } from '@gatewright/session-issuer/postgres'
import { redisCredentials } from '@gatewright/session-issuer/redis'
import {
  auditContract,
  keyStorageContract,
  sessionStorageContract,
  signingKeyStorageContract,
} from '@gatewright/session-issuer/testing'
import { migrateNonces, postgresNonces } from '@gatewright/signature-verifier/postgres'
import { redisNonces } from '@gatewright/signature-verifier/redis'
import { challengeStorageContract, nonceStorageContract } from '@gatewright/signature-verifier/testing'
import { postgresStore } from 'gatewright/postgres'
import { redisStore } from 'gatewright/redis'
import pg from 'pg'
import t, { type Test } from 'tap'
import {
  IOREDIS_SETTINGS,
  NODE_REDIS_SETTINGS,
  PG_SETTINGS,
  type OpenedRedis,
} from '../harness/databases/client-settings.ts'
import { EMPTY } from '../harness/databases/empty.ts'
import { instrumentPg, type InstrumentationOptions } from './pg-instrumentation.ts'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { countTimers } from './timers.ts'
import { installTools } from '../harness/tools.ts'
import { appendRedisFeed, appendSqlFeed, readRedisFeed, readSqlFeed } from '../session-issuer/feeds.ts'

installTools()
t.setTimeout(1_800_000)

const CONNECTIONS = 4
/** As `postgresStore` and the host have it. */
const RETRIES = 10
/** The limit of a statement at the side of `pg`, in ms. No other timer has this length. */
const QUERY_TIMEOUT_MS = 54_321

/** A connection of a store under test. */
interface OnPostgres {
  readonly pool: pg.Pool
  readonly db: SqlClient
  readonly encryptionKey: Buffer
}

/** A connection of a store under test. */
interface OnRedis {
  readonly client: RedisClient
  readonly prefix: string
  limits(): LimiterStore
}

/** What every suite needs of a port that was opened for one of its tests. */
interface Opened<Port> {
  readonly connections: readonly Port[]
  readonly expiresNatively: boolean
  readFeed(positions: readonly number[]): Promise<FeedEntry[]>
  append(entries: readonly FeedEntry[]): Promise<void>
  close(): Promise<void>
}

type Open<Connection> = () => Promise<Opened<Connection>>
type Suite<Port> = (runner: TestRunner, name: string, open: Open<Port>) => void

/** A port, with the suite that its adapters must pass. */
interface StoreUnderTest {
  readonly name: string
  readonly postgres: Suite<OnPostgres>
  readonly redis?: Suite<OnRedis>
}

/** Makes a suite of connections from that of a port. */
const over =
  <Connection, Port>(suite: Suite<Port>, adapter: (connection: Connection) => Port): Suite<Connection> =>
  (runner, name, open) =>
    suite(runner, name, async () => {
      const opened = await open()
      return { ...opened, connections: opened.connections.map(connection => adapter(connection)) }
    })

const storeOf = <Port>(
  name: string,
  suite: Suite<Port>,
  onPostgres: (connection: OnPostgres) => Port,
  onRedis?: (connection: OnRedis) => Port,
): StoreUnderTest => ({
  name,
  postgres: over(suite, onPostgres),
  ...(onRedis && { redis: over(suite, onRedis) }),
})

/** There is one feed, so its suite takes the first connection. */
const feedSuite: Suite<RevocationFeed> = (runner, name, open) =>
  revocationFeedContract(runner, name, async () => {
    const { connections, ...rest } = await open()
    return { feed: connections[0] as RevocationFeed, ...rest }
  })

/** Requests of one key over all connections: each point is taken once, and keys are apart. */
const limitSuite: Suite<LimiterStore> = (runner, name, open) =>
  runner.describe(name, () => {
    runner.it('gives 30 points to 40 simultaneous requests, and another key its own points', async () => {
      const { connections, close } = await open()
      try {
        const shared = { name: 'perKey', points: 30, windowSeconds: 60, storeTimeoutMs: 20_000 }
        const limits = connections.map(store => createRateLimit({ ...shared, store }))
        const key = randomUUID()
        const taken = await race(40, index => limits[index % limits.length]!.take(key))
        assert.equal(taken.filter(({ ok }) => ok).length, 30)
        for (const limit of limits) assert.equal((await limit.take(key)).ok, false)
        const other = await limits[0]!.take(randomUUID())
        assert.match(JSON.stringify(other), /r=29;/)
      } finally {
        await close()
      }
    })
  })

const STORES: readonly StoreUnderTest[] = [
  storeOf(
    'idempotency',
    idempotencyStorageContract,
    ({ db }) => postgresIdempotency(db),
    ({ client, prefix }) => redisIdempotency(client, { prefix }),
  ),
  storeOf(
    'spends',
    spendStorageContract,
    ({ db }) => postgresSpends(db),
    ({ client, prefix }) => redisSpends(client, { prefix }),
  ),
  ...Object.entries({ nonces: nonceStorageContract, challenges: challengeStorageContract }).map(
    ([name, suite]) =>
      storeOf(
        name,
        suite,
        ({ db }) => postgresNonces(db),
        ({ client, prefix }) => redisNonces(client, { prefix, challengePrefix: `${prefix}c:` }),
      ),
  ),
  storeOf(
    'keys',
    keyStorageContract,
    ({ db }) => postgresCredentials(db).keys,
    ({ client, prefix }) => redisCredentials(client, { prefix }).keys,
  ),
  storeOf(
    'sessions',
    sessionStorageContract,
    ({ db }) => postgresCredentials(db).sessions,
    ({ client, prefix }) => redisCredentials(client, { prefix }).sessions,
  ),
  storeOf(
    'audit rows',
    auditContract,
    ({ db }) => postgresCredentials(db),
    ({ client, prefix }) => redisCredentials(client, { prefix }),
  ),
  storeOf(
    'signing keys',
    signingKeyStorageContract,
    ({ db, encryptionKey }) => postgresCredentials(db, { encryptionKey }).signingKeys,
  ),
  storeOf(
    'revocations',
    feedSuite,
    ({ db }) => sqlRevocationFeed(db),
    ({ client, prefix }) => redisRevocationFeed(client, { prefix }),
  ),
  storeOf(
    'aliases',
    aliasUsageStorageContract,
    ({ db }) => postgresAliasUsage(db),
    ({ client, prefix }) => redisAliasUsage(client, { prefix: `{${prefix}}:` }),
  ),
  storeOf(
    'rate limits',
    limitSuite,
    ({ pool }) => postgresStore(pool).limits,
    ({ limits }) => limits(),
  ),
]

/** Runs a suite under a setting, each of its tests as a test of tap. */
const runSuite = <Connection>(
  t: Test,
  title: string,
  suite: Suite<Connection>,
  open: Open<Connection>,
): Promise<unknown> =>
  t.test(title, async t => {
    for (const { name, run } of collectTests(runner => suite(runner, title, open)))
      await t.test(name, async t => {
        await run()
        t.pass(name)
      })
  })

/** Opens pools in a schema that has the tables of all stores. They are closed at the end of `t`. */
async function openPools(t: Test, options: string, prepare: boolean): Promise<Open<OnPostgres>> {
  const schema = uniqueName()
  const admin = await openPostgresPool(schema, 1)
  const reader = fromPgPool(admin)
  const encryptionKey = randomBytes(32)
  const connections = Array.from({ length: CONNECTIONS }, (): OnPostgres => {
    const pool = new pg.Pool({
      ...admin.options,
      max: 1,
      query_timeout: QUERY_TIMEOUT_MS,
      options: `-c search_path=${schema} ${options}`,
    })
    return { pool, db: fromPgPool(pool, { retries: RETRIES, prepare }), encryptionKey }
  })
  t.teardown(async () => {
    await Promise.all(connections.map(({ pool }) => pool.end()))
    await admin.query(`drop schema ${schema} cascade`)
    await admin.end()
  })
  const [{ pool, db }] = connections as [OnPostgres]
  await postgresStore(pool).migrate()
  for (const migrate of [migrateNonces, migrateCredentials, migrateAliasUsage]) await migrate(db)
  return async () => ({
    connections,
    expiresNatively: false,
    readFeed: positions => readSqlFeed(reader, positions),
    append: async entries => {
      for (const entry of entries) await appendSqlFeed(db, entry)
    },
    close: async () => void (await admin.query(EMPTY)),
  })
}

/** Runs all suites on Postgres. */
async function runOnPostgres(
  t: Test,
  setting: string,
  { options = '', prepare = false }: { readonly options?: string; readonly prepare?: boolean },
): Promise<void> {
  const open = await openPools(t, options, prepare)
  for (const { name, postgres } of STORES)
    await runSuite(t, `${name} on Postgres, ${setting}`, postgres, open)
}

// Without an imitation of the instrumentation below, and parsers that make a `number` where another setting makes a `bigint`.
const { 'copied query objects': _copied, 'Number parsers': _numbers, ...settings } = PG_SETTINGS
for (const [setting, { apply, options = '' }] of Object.entries(settings))
  t.test(`the stores on Postgres, ${setting}`, async t => {
    t.teardown(apply())
    await runOnPostgres(t, setting, { options })
  })

const INSTRUMENTATIONS: Readonly<
  Record<string, InstrumentationOptions & { readonly prepare: boolean; readonly options?: string }>
> = {
  'instrumentation with comments': { addSqlCommenterCommentToQueries: true, prepare: false },
  'instrumentation with comments, prepared statements and serializable': {
    addSqlCommenterCommentToQueries: true,
    prepare: true,
    options: settings['serializable']!.options as string,
  },
}

for (const [setting, { prepare, options, ...instrumentation }] of Object.entries(INSTRUMENTATIONS))
  t.test(`the stores on Postgres, ${setting}: each span ends once, and each time limit`, async t => {
    const timers = countTimers(QUERY_TIMEOUT_MS)
    t.teardown(timers.restore)
    const spans = await instrumentPg(instrumentation)
    t.teardown(spans.restore)
    await t.test('suites', async t => {
      await runOnPostgres(t, setting, { prepare, ...(options === undefined ? {} : { options }) })
      const open = await openPools(t, '', prepare)
      await runSuite(
        t,
        `SqlClient, ${setting}`,
        over(sqlClientContract, ({ pool }: OnPostgres) => fromPgPool(pool, { prepare })),
        open,
      )
    })
    t.ok([...spans.started.keys()].some(name => name.startsWith('pg.query:')))
    t.same(spans.ended, spans.started)
    t.same(spans.warnings, [])
    t.ok(timers.started() > 0)
    t.equal(timers.left(), 0, 'a timer that is left would end a later statement')
  })

/** Opens a client with a setting, and the limits of a store on it. */
const openedAs =
  <Client extends Parameters<typeof redisStore>[0]>(toClient: (client: Client) => RedisClient) =>
  ([setting, open]: readonly [string, () => Promise<OpenedRedis<Client>>]) => {
    const openClient = async () => {
      const { client, close } = await open()
      const limits = (prefix: string): LimiterStore => redisStore(client, { prefix }).limits
      return { client: toClient(client), limits, close }
    }
    return [setting, openClient] as const
  }

const redisSettings = [
  ...Object.entries(IOREDIS_SETTINGS).map(openedAs(fromIoredis)),
  ...Object.entries(NODE_REDIS_SETTINGS).map(openedAs(fromNodeRedis)),
]

for (const [setting, openClient] of redisSettings)
  t.test(`the stores on Redis, ${setting}`, async t => {
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, openClient))
    t.teardown(() => clients.forEach(({ close }) => close()))
    const reader = await openClient()
    t.teardown(reader.close)
    const open: Open<OnRedis> = async () => {
      const prefix = `${uniqueName()}:`
      return {
        connections: clients.map(({ client, limits }) => ({
          client,
          prefix,
          limits: () => limits(prefix),
        })),
        expiresNatively: true,
        readFeed: positions => readRedisFeed(reader.client, positions, prefix),
        append: async entries => {
          for (const entry of entries) await appendRedisFeed(reader.client, prefix, entry)
        },
        close: async () => {},
      }
    }
    for (const { name, redis } of STORES)
      if (redis) await runSuite(t, `${name} on Redis, ${setting}`, redis, open)
  })
