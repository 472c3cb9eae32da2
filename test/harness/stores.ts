import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromNodeRedis, type RedisClient } from '@gatewright/kernel/redis'
import { fromPgPool, fromSqlite, type SqlClient } from '@gatewright/kernel/sql'
import Database from 'libsql'
import pg from 'pg'
import { createClient } from 'redis'
import { distributeSchema } from './databases/citus.ts'

/** Clients over separate connections to one real store, and what closes them. */
export interface Connections<Client> {
  readonly connections: readonly Client[]
  close(): Promise<void>
}

/** A name no other test uses: a key prefix, schema or file. */
export function uniqueName(): string {
  return `t${randomBytes(8).toString('hex')}`
}

function url(variable: 'TEST_REDIS_URL' | 'TEST_POSTGRES_URL'): string {
  const value = process.env[variable]
  if (!value) throw new Error(`${variable} is not set: run tests by npm test`)
  return value
}

/** For node-redis: by default a command fails after 5 s, which the last of a thousand at once may take on a busy machine. */
export const COMMAND_OPTIONS = { timeout: 60_000 }

/** To be duplicated: `createClient` makes a class with a method for each of Redis's commands. */
const unconnected = createClient({
  disableOfflineQueue: true,
  socket: { reconnectStrategy: false },
  commandOptions: COMMAND_OPTIONS,
})

/** Opens `count` node-redis connections to the run's Redis, or to `at`. */
export async function openRedis(
  count: number,
  at: string = url('TEST_REDIS_URL'),
): Promise<Connections<RedisClient>> {
  const clients = Array.from({ length: count }, () => unconnected.duplicate({ url: at }))
  for (const client of clients) client.on('error', () => {})
  await Promise.all(clients.map(client => client.connect()))
  return {
    connections: clients.map(fromNodeRedis),
    close: async () => {
      for (const client of clients) if (client.isOpen) client.destroy()
    },
  }
}

const createdSchemas = new Set<string>()

/** A Postgres pool of `size` connections that work in `schema`, which it creates. */
export async function openPostgresPool(
  schema: string,
  size: number,
  at: string = url('TEST_POSTGRES_URL'),
): Promise<pg.Pool> {
  if (!createdSchemas.has(schema)) {
    const admin = new pg.Client({ connectionString: url('TEST_POSTGRES_URL') })
    await admin.connect()
    await admin.query(`create schema if not exists ${schema}`).finally(() => admin.end())
    createdSchemas.add(schema)
    await distributeSchema(url('TEST_POSTGRES_URL'), schema)
  }
  const pool = new pg.Pool({ connectionString: at, max: size, options: `-c search_path=${schema}` })
  pool.on('error', () => {})
  return pool
}

/** Opens `count` clients with a connection each, in a fresh schema; `migrate` runs once, on the first. */
export async function openPostgres(
  count: number,
  migrate: (db: SqlClient) => Promise<void>,
): Promise<Connections<SqlClient>> {
  const schema = uniqueName()
  // The first alone: `create schema if not exists` fails when two run it at once.
  const first = await openPostgresPool(schema, 1)
  const others = Array.from({ length: count - 1 }, () => openPostgresPool(schema, 1))
  const pools = [first, ...(await Promise.all(others))]
  const connections = pools.map(pool => fromPgPool(pool))
  await migrate(connections[0] as SqlClient)
  return {
    connections,
    close: async () => {
      await pools[0]?.query(`drop schema ${schema} cascade`)
      await Promise.all(pools.map(pool => pool.end()))
    },
  }
}

/**
 * Opens `count` clients with connections of their own to one fresh SQLite file. The host uses one; several
 * make the races real, with SQLite's own lock between them.
 */
export async function openSqlite(
  count: number,
  migrate: (db: SqlClient) => Promise<void>,
): Promise<Connections<SqlClient>> {
  const directory = mkdtempSync(join(tmpdir(), 'gatewright-sqlite-'))
  const databases = Array.from({ length: 2 * count }, () => {
    const database = new Database(join(directory, 'test.sqlite'))
    database.exec('pragma journal_mode = wal; pragma busy_timeout = 5000')
    return database
  })
  const connections = Array.from({ length: count }, (_, index) => {
    const [writer, reader] = databases.slice(2 * index)
    return fromSqlite(writer as Database.Database, reader)
  })
  await migrate(connections[0] as SqlClient)
  return {
    connections,
    close: async () => {
      for (const database of databases) database.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
