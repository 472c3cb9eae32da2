import type { StoreName } from './choices.ts'

/** How a project opens its store. */
export interface StoreTemplate {
  readonly packages: readonly string[]
  readonly types: readonly string[]
  readonly imports: readonly string[]
  /** Declares `store`. */
  readonly open: string
  /** Which server must run, for the README of the project. */
  readonly needs: string
}

/** The stores by name. */
export const STORE_TEMPLATES: Readonly<Record<StoreName, StoreTemplate>> = {
  memory: {
    packages: [],
    types: [],
    imports: ["import { memoryStore } from 'gatewright/memory'"],
    open: `// Lost when the process ends, and not shared between processes: for a first try.
const store = memoryStore()`,
    needs: 'Its state is in memory: choose Redis, Postgres or SQLite before you move money.',
  },
  redis: {
    packages: ['redis'],
    types: [],
    imports: ["import { redisStore } from 'gatewright/redis'", "import { createClient } from 'redis'"],
    open: `const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379'
const redis = createClient({ url, disableOfflineQueue: true })
redis.on('error', error => console.error('redis', error)) // without a listener, a lost connection ends the process
await redis.connect()
const store = redisStore(redis)`,
    needs:
      'It needs Redis at `REDIS_URL` (default `redis://127.0.0.1:6379`), with `maxmemory-policy noeviction`.',
  },
  postgres: {
    packages: ['pg'],
    types: ['@types/pg'],
    imports: ["import { postgresStore } from 'gatewright/postgres'", "import pg from 'pg'"],
    open: `const url = process.env['DATABASE_URL'] ?? 'postgres://127.0.0.1/payments'
const pool = new pg.Pool({ connectionString: url })
pool.on('error', error => console.error('postgres', error)) // without a listener, a lost connection ends the process
const store = postgresStore(pool)`,
    needs: 'It needs Postgres at `DATABASE_URL` (default `postgres://127.0.0.1/payments`).',
  },
  sqlite: {
    packages: ['libsql'],
    types: [],
    imports: ["import { sqliteStore } from 'gatewright/sqlite'", "import Database from 'libsql'"],
    open: `const store = sqliteStore(new Database(process.env['DATABASE_FILE'] ?? 'payments.db'))`,
    needs: 'Its state is in the file `DATABASE_FILE` (default `payments.db`), which one process may use.',
  },
}

/** Creates the tables of the store, and deletes expired rows from time to time. */
export const PREPARE_STORE: string = `await store.migrate()
setInterval(() => void store.collect().catch(error => console.error('store', error)), 300_000).unref()`
