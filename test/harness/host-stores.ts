import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { distributeSchema } from './databases/citus.ts'
import { EMPTY } from './databases/empty.ts'
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
  if (stores.startsWith('embedded')) return { env: redisEnv(stores), drop: async () => {} }
  const schema = await createSchema()
  return { env: schemaEnv(schema, stores), drop: () => administer(`drop schema ${schema} cascade`) }
}

/** Schemas that hosts of this process have left, with their tables, emptied. */
const idle: string[] = []

/**
 * As `hostStoresEnv`, but on Postgres in a schema that an earlier host of this process has left, emptied: to create and drop the tables
 * of a host takes 400 ms of CPU. A test that looks at the tables themselves, or changes them, needs `hostStoresEnv`. A host that
 * `given` names a database gets none here.
 */
export async function keptHostStoresEnv(
  stores: HostStores = hostStores(),
  given: Readonly<Record<string, string>> = {},
): Promise<{ env: Record<string, string>; drop(): Promise<void> }> {
  if (stores.startsWith('embedded') || 'DATABASE_URL' in given)
    return { env: redisEnv(stores), drop: async () => {} }
  const schema = idle.pop() ?? (await createKeptSchema())
  const env = schemaEnv(schema, stores)
  const drop = async (): Promise<void> => {
    await administer(EMPTY, env['DATABASE_URL'])
    idle.push(schema)
  }
  return { env, drop }
}

async function createKeptSchema(): Promise<string> {
  const schema = await createSchema()
  // Files of a process share it.
  process.once('beforeExit', () => administer(`drop schema ${schema} cascade`))
  return schema
}

async function createSchema(): Promise<string> {
  const schema = uniqueName()
  await administer(`create schema ${schema}`)
  await distributeSchema(process.env['TEST_POSTGRES_URL'] as string, schema)
  return schema
}

/** A host on a schema, with new secrets. */
function schemaEnv(schema: string, stores: HostStores): Record<string, string> {
  const url = new URL(process.env['TEST_POSTGRES_URL'] as string)
  url.searchParams.set('options', `-c search_path=${schema}`)
  return { ...redisEnv(stores), DATABASE_URL: url.href, ...hostSecrets() }
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

async function administer(statement: string, at = process.env['TEST_POSTGRES_URL']): Promise<void> {
  const client = new pg.Client({ connectionString: at })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
