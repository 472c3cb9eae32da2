// What a protected write costs beside the bare round trips it is made of: on Redis two trivial EVALSHAs and one
// peer from npm, on Postgres the same two statements by bare node-pg and by pgbench, and in same-transaction mode
// the bare business transaction. Bars: throughput at least 0.85 x, CPU at most 1.3 x, a replay on Postgres at
// least 3.5 x a write, same-transaction mode at most 1.5 x the bare transaction's time.
import { randomUUID } from 'node:crypto'
import {
  createIdempotency,
  type Idempotency,
  type IdempotencyStorage,
  type StoredResponse,
} from '@gatewright/idempotency-store'
import type { IdempotentRequest } from '#packages/idempotency-store/dist/request/identify.js'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import {
  migrateIdempotency,
  postgresIdempotency,
  postgresTransactionalIdempotency,
} from '@gatewright/idempotency-store/postgres'
import { redisIdempotency } from '@gatewright/idempotency-store/redis'
import { fromNodeRedis } from '@gatewright/kernel/redis'
import {
  fromPgPool,
  rows,
  type SqlClient,
  type SqlQueries,
  type SqlTransaction,
  type SqlValue,
} from '@gatewright/kernel/sql'
import type pg from 'pg'
import { createClient } from 'redis'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { extent, reportMissed } from './extent.ts'
import { compare, type Result } from './harness.ts'
import { pgbench } from './pgbench.ts'
import { tool } from '../harness/tools.ts'

const MIN_THROUGHPUT = 0.85
/** CPU at most 1.3 x the peer's, in the harness' terms: the peer's at least 1 / 1.3 of ours. */
const CPU_BAR = { minRatio: 1 / 1.3 }
const body = Buffer.from(JSON.stringify({ amountCents: 100, currency: 'USD', note: 'x'.repeat(200) }))
const reply: StoredResponse = {
  status: 201,
  headers: [['content-type', 'application/json']],
  body: JSON.stringify({ ok: true, data: { payin: { id: randomUUID(), status: 'awaiting_payment' } } }),
}
const facts = (key: string): IdempotentRequest => ({
  account: 'acc_0123456789',
  operation: 'subscriptions.payin',
  key,
  method: 'POST',
  body,
})

/** Compares elapsed time, round by round like CPU: ours may take at most `1 / minRatio` of the first peer's. */
function compareTime(result: Result, minRatio: number): void {
  const times = result.peers[0]?.wallRatio.median ?? NaN
  const figure = `throughput ${times.toFixed(2)} x the peer's`
  console.log(`  ${figure}\n`)
  if (!(times >= minRatio)) reportMissed(`${figure}, at least ${minRatio.toFixed(2)} wanted`)
}

async function write(idempotency: Idempotency, key: string): Promise<void> {
  const begun = await idempotency.begin(facts(key))
  if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
  const { state } = await idempotency.complete(begun.value.claim, reply)
  if (state !== 'stored') throw new Error(`the write ended as ${state}`)
}

async function replay(idempotency: Idempotency, key: string): Promise<void> {
  const begun = await idempotency.begin(facts(key))
  if (!begun.ok || begun.value.state !== 'replay') throw new Error('not replayed')
}

const CONCURRENCIES = [1, 50, 200]

/** Runs each function often enough to be compiled, which one operation at a time would not do in a sample. */
async function warmUp(...runs: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const run of runs) {
    for (let round = 0; round < extent(60, 1); round++) await Promise.all(Array.from({ length: 50 }, run))
  }
}
let count = 0
const freshKey = (): string => `key-${process.pid}-${count++}`

/**
 * What batching gains at 50 simultaneous writes. It stays for a store on which one call per command costs at least a tenth
 * more CPU (docs/decisions/0059-machinery-that-pays.md).
 */
async function compareBatching(
  store: string,
  { batched, single }: { readonly batched: IdempotencyStorage; readonly single: IdempotencyStorage },
  operations: number,
): Promise<void> {
  const [ours, peer] = [createIdempotency({ storage: batched }), createIdempotency({ storage: single })]
  const run = (idempotency: Idempotency) => () => write(idempotency, freshKey())
  await warmUp(run(ours), run(peer))
  await compare(`idempotency-store: batching on ${store}, 50 at once`, {
    ours: { name: 'batched', run: run(ours) },
    peers: [{ name: 'one call per command', run: run(peer), minRatio: 1.1 }],
    operations,
    concurrency: 50,
  })
}

const operationsAt = (concurrency: number): number => (concurrency === 1 ? 4_000 : 6_000)

/** What is used of Powertools. */
interface Powertools {
  readonly IdempotencyConfig: new (options: object) => object
  makeIdempotent<E, A>(handler: (event: E) => Promise<A>, options: object): (event: E) => Promise<A>
}
interface PowertoolsCache {
  readonly CachePersistenceLayer: new (options: { client: unknown }) => object
}
const { IdempotencyConfig, makeIdempotent } = await tool<Powertools>('@aws-lambda-powertools/idempotency')
const { CachePersistenceLayer } = await tool<PowertoolsCache>('@aws-lambda-powertools/idempotency/cache')

/** The peer from npm. */
function powertools(client: unknown): (event: { key: string }) => Promise<StoredResponse> {
  const persistenceStore = new CachePersistenceLayer({ client })
  const config = new IdempotencyConfig({
    eventKeyJmesPath: 'key',
    lambdaContext: { getRemainingTimeInMillis: () => 60_000 } as never,
  })
  process.env['POWERTOOLS_DEV'] = 'true'
  process.env['AWS_LAMBDA_FUNCTION_NAME'] = 'bench'
  return makeIdempotent(async (_event: { key: string }) => reply, { persistenceStore, config })
}

const connect = () =>
  createClient({ url: process.env['TEST_REDIS_URL'] as string, disableOfflineQueue: true }).connect()

async function onRedis(): Promise<void> {
  const client = await connect()
  const idempotency = createIdempotency({ storage: redisIdempotency(fromNodeRedis(client)) })
  const trivial = (await client.sendCommand(['SCRIPT', 'LOAD', 'return 1'])) as unknown as string
  const bare = async (): Promise<void> => {
    await client.sendCommand(['EVALSHA', trivial, '1', freshKey()])
    await client.sendCommand(['EVALSHA', trivial, '1', freshKey()])
  }
  const ours = { name: 'begin + complete', run: () => write(idempotency, freshKey()) }
  await warmUp(ours.run, bare)
  for (const concurrency of CONCURRENCIES) {
    const result = await compare(`idempotency-store: begin + complete on Redis, ${concurrency} at once`, {
      ours,
      peers: [{ name: 'two trivial EVALSHAs', run: bare, ...CPU_BAR }],
      operations: operationsAt(concurrency),
      concurrency,
      rounds: 12,
    })
    compareTime(result, MIN_THROUGHPUT)
  }
  const redis = fromNodeRedis(client)
  const single = redisIdempotency({ ...redis, standalone: false })
  await compareBatching('Redis', { batched: redisIdempotency(redis), single }, operationsAt(50))
  await client.close()
}

/** The statements that one write runs, as text with the values that change from write to write left open. */
async function statementsOf(
  run: (storage: IdempotencyStorage) => Promise<unknown>,
): Promise<{ text: string; values: readonly SqlValue[] }[]> {
  const seen: { text: string; values: readonly SqlValue[] }[] = []
  const recording: SqlQueries = {
    dialect: 'postgres',
    async query(text, values = []) {
      seen.push({ text, values })
      const row = { fingerprint: values[2], owner: values[3], fence: values[5], state: 'running', until: 1 }
      return { rows: [seen.length === 1 ? row : { won: 1 }] }
    },
  }
  await run(postgresIdempotency(recording))
  return seen
}

async function onPostgres(): Promise<void> {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 10)
  const db = fromPgPool(pool, { prepare: true })
  await migrateIdempotency(db)
  const idempotency = createIdempotency({ storage: postgresIdempotency(db) })
  const asking = createIdempotency({ storage: postgresIdempotency(db), maxCachedBytes: 0 })
  const [begin, end] = await statementsOf(storage => write(createIdempotency({ storage }), 'recorded-key'))
  if (!begin || !end) throw new Error('no statements')
  const bare = async (): Promise<void> => {
    const digest = freshKey()
    await pool.query({ name: 'begin', text: begin.text, values: [digest, ...begin.values.slice(1)] })
    const values = [digest, begin.values[1], begin.values[5], ...end.values.slice(3)]
    await pool.query({ name: 'end', text: end.text, values })
  }
  await warmUp(() => write(idempotency, freshKey()), bare)
  for (const concurrency of CONCURRENCIES) {
    const operations = concurrency === 1 ? 1_200 : 2_000
    const result = await compare(`idempotency-store: begin + complete on Postgres, ${concurrency} at once`, {
      ours: { name: 'begin + complete', run: () => write(idempotency, freshKey()) },
      peers: [{ name: 'the same two statements, bare node-pg, prepared', run: bare, ...CPU_BAR }],
      operations,
      concurrency,
    })
    compareTime(result, MIN_THROUGHPUT)
    await write(idempotency, `replayed-${concurrency}`)
    const replays = await compare(`idempotency-store: replay on Postgres, ${concurrency} at once`, {
      ours: { name: 'replay', run: () => replay(idempotency, `replayed-${concurrency}`) },
      peers: [
        { name: 'begin + complete', run: () => write(idempotency, freshKey()) },
        { name: 'replay that asks the store', run: () => replay(asking, `replayed-${concurrency}`) },
      ],
      operations,
      concurrency,
    })
    compareTime(replays, 3.5)
  }
  const single = postgresIdempotency(db, { batching: false })
  await compareBatching('Postgres', { batched: postgresIdempotency(db), single }, 2_000)
  await pgbench(schema, begin.text, end.text)
  await inOneTransaction(db, fromPgPool(withoutPipelining(pool), { prepare: true }))
  await pool.query(`drop schema ${schema} cascade`)
  await pool.end()
}

/** A pool whose connections hide that they are clients of `pg`: `fromPgPool` sends them one statement per round trip. */
function withoutPipelining(pool: pg.Pool): Parameters<typeof fromPgPool>[0] {
  return {
    query: (statement, values) => pool.query(statement as string, values),
    async connect() {
      const client = await pool.connect()
      return {
        query: (statement, values) => client.query(statement as string, values),
        release: destroy => client.release(destroy),
        on: (event, listener) => client.on(event, listener),
        off: (event, listener) => client.off(event, listener),
      }
    },
  }
}

async function inOneTransaction(db: SqlClient, sequential: SqlClient): Promise<void> {
  for (const ddl of [
    'create table subscriptions (id integer primary key, plan text not null)',
    'create table payins (id text primary key, subscription integer not null, amount bigint not null)',
    'create table transfers (payin text not null, debit text not null, credit text not null, amount bigint not null)',
    'create table balances (account integer primary key, amount bigint not null)',
    "insert into subscriptions select id, 'basic' from generate_series(0, 999) as id",
    'insert into balances select id, 0 from generate_series(0, 999) as id',
  ])
    await rows(db, ddl)
  /** A pay-in from the balance: what it is for, the pay-in, its transfer, the balance. */
  const payIn = async (tx: SqlQueries, id: string, account: number): Promise<StoredResponse> => {
    await tx.query('select plan from subscriptions where id = $1', [account])
    await tx.query('insert into payins (id, subscription, amount) values ($1, $2, $3)', [id, account, 100])
    const transfer = [id, 'cash', String(account), 100]
    await tx.query('insert into transfers (payin, debit, credit, amount) values ($1, $2, $3, $4)', transfer)
    await tx.query('update balances set amount = amount + $1 where account = $2', [100, account])
    return reply
  }
  const payInOn = (client: SqlClient): ((index: number) => Promise<void>) => {
    const storage = (tx: SqlTransaction) => postgresTransactionalIdempotency(tx)
    const { run } = createTransactionalIdempotency({ db: client, storage })
    return async index => {
      const done = await run(facts(freshKey()), (tx, { effectId }) => payIn(tx, effectId, index % 1000))
      if (!done.ok || done.value.response.status !== reply.status) throw new Error('the pay-in was not made')
    }
  }
  for (const concurrency of CONCURRENCIES) {
    const result = await compare(`idempotency-store: same transaction on Postgres, ${concurrency} at once`, {
      ours: { name: 'run', run: payInOn(db) },
      peers: [
        {
          name: 'the bare business transaction',
          run: index => db.transaction(tx => payIn(tx, freshKey(), index % 1000)),
        },
        // Pipelining stays while this costs at least 3 % more (docs/decisions/0059-machinery-that-pays.md).
        { name: 'run, one statement per round trip', run: payInOn(sequential), minRatio: 1.03 },
      ],
      operations: concurrency === 1 ? 800 : 1_000,
      concurrency,
    })
    compareTime(result, 1 / 1.5)
  }
}

/** The peer switches AsyncLocalStorage on, and from then on every promise of the process costs more. */
async function besideThePeer(): Promise<void> {
  const client = await connect()
  const idempotency = createIdempotency({ storage: redisIdempotency(fromNodeRedis(client)) })
  const ours = { name: 'begin + complete', run: () => write(idempotency, freshKey()) }
  const peer = powertools(client)
  for (const concurrency of CONCURRENCIES) {
    await compare(`idempotency-store: beside a peer on Redis, ${concurrency} at once`, {
      ours,
      peers: [{ name: 'Powertools 2.35 makeIdempotent', run: () => peer({ key: freshKey() }) }],
      operations: operationsAt(concurrency),
      concurrency,
    })
  }
  await client.close()
}

await onRedis()
await onPostgres()
await besideThePeer()
