import { createClient } from 'redis'
import { Redis } from 'ioredis'
import { memoryStore } from 'gatewright/memory'
import { postgresStore } from 'gatewright/postgres'
import { redisStore } from 'gatewright/redis'
import { sqliteStore } from 'gatewright/sqlite'
import Database from 'libsql'
import pg from 'pg'
import { freePort } from '../../../harness/services.ts'
import { openPostgresPool, uniqueName } from '../../../harness/stores.ts'
import { sign, signingKey } from '../../../scope-guard/issuer.ts'
import { paid, usd, WRITE, type Mistake, type Trial, firstRequest, atStart } from './trial.ts'

/** A server with one write that spends, on a store. */
function onStore(
  trial: Trial,
  store: object,
  handler: unknown = paid,
  write: object = { spends: () => usd(1) },
) {
  const mounted = trial.fetch({ store }).write('payments.create', { ...WRITE, ...write }, handler as never)
  return () => trial.send(mounted)
}

/** Sets a variable of the environment for one trial. */
function environment(trial: Trial, changes: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries({ NODE_ENV: 'staging', ...changes })) {
    const before = process.env[name]
    trial.after(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
    process.env[name] = value
  }
}
const inPlatform = (mistake: string, changes: Readonly<Record<string, string>>): Mistake =>
  atStart(mistake, /memoryStore\(\) is in/, trial => {
    environment(trial, changes)
    return onStore(trial, memoryStore())
  })

/** Stores. */
export const STORES: readonly Mistake[] = [
  inPlatform('memory under PM2', { NODE_APP_INSTANCE: '0' }),
  inPlatform('memory in a function of AWS Lambda', { AWS_LAMBDA_FUNCTION_NAME: 'pay' }),
  inPlatform('memory on Vercel', { VERCEL: '1' }),
  inPlatform('memory on Cloud Run', { K_SERVICE: 'pay' }),
  inPlatform('memory in a pod of Kubernetes', { KUBERNETES_SERVICE_HOST: '10.0.0.1' }),
  firstRequest('a client of node-redis that is not connected', /Redis connection is not ready/, trial =>
    onStore(
      trial,
      redisStore(createClient({ url: process.env['TEST_REDIS_URL'] as string, disableOfflineQueue: true })),
    ),
  ),
  firstRequest('Redis at a wrong address', /ECONNREFUSED|connect/i, async trial => {
    const client = new Redis(`redis://127.0.0.1:${await freePort()}`, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
    })
    client.on('error', () => {})
    trial.after(() => client.disconnect())
    return onStore(trial, redisStore(client))
  }),
  atStart('Redis that evicts', /maxmemory-policy/, async trial => {
    const client = createClient({ url: process.env['TEST_REDIS_URL'] as string })
    client.on('error', () => {})
    await client.connect()
    trial.after(() => client.destroy())
    // The server is that of all tests, so its setting is not changed.
    const evicting = Object.assign(Object.create(client) as typeof client, {
      sendCommand: async (given: readonly string[]) =>
        given[0] === 'INFO' ? 'maxmemory_policy:allkeys-lru' : client.sendCommand([...given]),
    })
    const store = redisStore(evicting, { prefix: uniqueName() })
    await store.migrate()
    return onStore(trial, store)
  }),
  firstRequest('no migrate() of Postgres', /migrate\(\)/, async trial => {
    const pool = await openPostgresPool(uniqueName(), 2)
    trial.after(() => pool.end())
    return onStore(trial, postgresStore(pool))
  }),
  firstRequest('no migrate() of SQLite', /migrate\(\)/, trial => {
    const database = new Database(':memory:')
    return onStore(trial, sqliteStore(database))
  }),
  firstRequest('migrate() with another prefix', /migrate\(\)/, async trial => {
    const schema = uniqueName()
    const pool = await openPostgresPool(schema, 2)
    trial.after(() => pool.end())
    await postgresStore(pool, { prefix: 'one_' }).migrate()
    return onStore(trial, postgresStore(pool, { prefix: 'two_' }))
  }),
  firstRequest('a pool that is ended', /pool/, async trial => {
    const pool = new pg.Pool({ connectionString: process.env['TEST_POSTGRES_URL'] })
    await pool.end()
    return onStore(trial, postgresStore(pool))
  }),
  firstRequest(
    'reserve in a transaction of its own, on a pool of one connection',
    /the handler of the run \S+ has not responded for 500 ms/,
    async trial => {
      const pool = await openPostgresPool(uniqueName(), 1)
      trial.after(() => pool.end())
      const store = postgresStore(pool)
      await store.migrate()
      const gw = trial.fetch({ store, limits: [], idempotency: { leaseMs: 1000 } })
      const handler = gw.write('payments.create', { ...WRITE, spends: 'spend' }, async ({ reserve }) => {
        const client = await pool.connect()
        const reserving = reserve(usd(1))
        // Until the line is written, both wait for each other.
        while (!trial.lines.some(line => line.includes('has not responded'))) await new Promise(setImmediate)
        client.release()
        const hold = await reserving
        if (hold.ok) hold.value.release()
        return { status: 409 }
      })
      return () => trial.send(handler)
    },
  ),
  firstRequest('policies that throw', /policies|down/, trial => {
    const mounted = trial
      .fetch({ policy: undefined, policies: () => Promise.reject(new Error('down')) })
      .write('payments.create', { ...WRITE, spends: () => usd(1) }, paid)
    return () => trial.send(mounted)
  }),
  firstRequest(
    'keys of the issuer that cannot be fetched',
    /the metadata of the issuer: .*ECONNREFUSED/,
    async trial => {
      const issuer = `http://127.0.0.1:${await freePort()}`
      const iat = Math.floor(trial.world.options.clock.now() / 1000)
      const claims = {
        iss: issuer,
        aud: trial.world.options.audience,
        sub: 'ann',
        scope: WRITE.scope,
        iat,
        exp: iat + 900,
      }
      const authorization = `Bearer ${await sign(await signingKey('RS256'), claims, { typ: 'JWT' })}`
      const mounted = trial.fetch({ guard: {}, issuer }).write('payments.create', WRITE, paid)
      return () => trial.send(mounted, { headers: { authorization } })
    },
  ),
]
