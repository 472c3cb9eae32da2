import { postgresIdempotency, migrateIdempotency } from '@gatewright/idempotency-store/postgres'
import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import { fromNodeRedis } from '@gatewright/kernel/redis'
import { fromPgPool } from '@gatewright/kernel/sql'
import type { LimiterStore } from '@gatewright/scope-guard'
import type { NonceStorage } from '@gatewright/signature-verifier'
import { redisNonces } from '@gatewright/signature-verifier/redis'
import pg from 'pg'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { createClient } from 'redis'

/** What is kept where: money's records in Postgres, what may be forgotten in the worst case in Redis. */
export interface OpenStores {
  /** Idempotency records, with the ledger they protect. */
  readonly idempotency: IdempotencyStorage
  /** Rate limits, shared by all instances. */
  readonly limiter: LimiterStore
  /** Replay memory of wallet proofs: `createVerifier({ nonces })`. */
  readonly nonces: NonceStorage
  close(): Promise<void>
}

/** Opens both clients. They stay the team's own: Gatewright never opens, closes or configures a connection. */
export async function openStores(redisUrl: string, databaseUrl: string, name = 'acme'): Promise<OpenStores> {
  // Without the offline queue an outage is an error at once (503), not a wait.
  const redis = createClient({ url: redisUrl, disableOfflineQueue: true })
  redis.on('error', error => console.error('redis', error.message))
  // Waits until Redis is up: node-redis tries without end, and the listener logs why it fails.
  await redis.connect()

  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
  pool.on('error', error => console.error('postgres', error.message))
  const db = fromPgPool(pool)
  // Versioned, repeatable, and safe from many instances at once.
  await migrateIdempotency(db, `${name}_`)

  return {
    idempotency: postgresIdempotency(db, { prefix: `${name}_` }),
    limiter: settings =>
      new RateLimiterRedis({
        ...settings,
        keyPrefix: `${name}:${settings.keyPrefix}`,
        storeClient: redis,
        useRedisPackage: true,
      }),
    nonces: redisNonces(fromNodeRedis(redis), { prefix: `${name}:nonce:` }),
    close: async () => {
      redis.destroy()
      await pool.end()
    },
  }
}
