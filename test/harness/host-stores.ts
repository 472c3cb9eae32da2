import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { distributeSchema } from './databases/citus.ts'
import { uniqueName } from './stores.ts'

/** Which stores a test host runs on. */
export type HostStores =
  | 'embedded'
  | 'embedded+redis'
  | 'postgres'
  | 'postgres+redis'
  /** The cluster that `TEST_REDIS_CLUSTER_URLS` names. */
  | 'postgres+cluster'

/** The stores that this process's test hosts run on: `TEST_HOST_STORES`, by default the embedded database. */
export function hostStores(): HostStores {
  return (process.env['TEST_HOST_STORES'] as HostStores | undefined) ?? 'embedded'
}

/** Environment of a host on the given stores, in a Postgres schema of its own, and what drops it again. */
export async function hostStoresEnv(
  stores: HostStores = hostStores(),
): Promise<{ env: Record<string, string>; drop(): Promise<void> }> {
  const redis = redisEnv(stores)
  if (stores.startsWith('embedded')) return { env: redis, drop: async () => {} }
  const schema = uniqueName()
  await administer(`create schema ${schema}`)
  await distributeSchema(process.env['TEST_POSTGRES_URL'] as string, schema)
  const url = new URL(process.env['TEST_POSTGRES_URL'] as string)
  url.searchParams.set('options', `-c search_path=${schema}`)
  const env = {
    ...redis,
    DATABASE_URL: url.href,
    ...hostSecrets(),
  }
  return { env, drop: () => administer(`drop schema ${schema} cascade`) }
}

/** New secrets of hosts that share a database. */
export function hostSecrets(): Record<string, string> {
  return {
    KEY_PEPPERS: `test:${randomBytes(24).toString('hex')}`,
    SIGNING_KEY_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    DATA_KEYS: `test:${randomBytes(32).toString('hex')}`,
  }
}

function redisEnv(stores: HostStores): Record<string, string> {
  if (stores.endsWith('redis')) return { REDIS_URL: process.env['TEST_REDIS_URL'] as string }
  const urls = process.env['TEST_REDIS_CLUSTER_URLS']
  return stores.endsWith('cluster') ? { REDIS_CLUSTER_URLS: urls as string } : {}
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: process.env['TEST_POSTGRES_URL'] })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
