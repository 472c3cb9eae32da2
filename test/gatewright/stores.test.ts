import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresStore } from 'gatewright/postgres'
import { redisStore } from 'gatewright/redis'
import { sqliteStore } from 'gatewright/sqlite'
import type { Store } from 'gatewright/memory'
import { Redis } from 'ioredis'
import Database from 'libsql'
import { createClient } from 'redis'
import t from 'tap'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { startExpress } from './servers.ts'
import { suite } from './suite.ts'
import { createWorld } from './world.ts'

const REDIS = process.env['TEST_REDIS_URL'] as string

/** Opens a new, empty store. */
const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  async 'node-redis'() {
    const client = createClient({ url: REDIS, disableOfflineQueue: true })
    await client.connect()
    t.teardown(() => client.destroy())
    return redisStore(client, { prefix: `${uniqueName()}:` })
  },
  async ioredis() {
    const client = new Redis(REDIS, { enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true })
    await client.connect()
    t.teardown(() => client.disconnect())
    return redisStore(client, { prefix: `${uniqueName()}:` })
  },
  async Postgres() {
    const pool = await openPostgresPool(uniqueName(), 8)
    t.teardown(() => pool.end())
    return postgresStore(pool)
  },
  async SQLite() {
    const directory = mkdtempSync(join(tmpdir(), 'gatewright-store-'))
    const [writer, reader] = [1, 2].map(() => new Database(join(directory, 'app.sqlite')))
    writer?.exec('pragma journal_mode = wal')
    t.teardown(() => {
      writer?.close()
      reader?.close()
      rmSync(directory, { recursive: true, force: true })
    })
    return sqliteStore(writer as Database.Database, { reader: reader as Database.Database })
  },
}

for (const [name, open] of Object.entries(STORES)) {
  suite(t, name, startExpress, async () => {
    const store = await open()
    await Promise.all([store.migrate(), store.migrate()])
    return createWorld(store)
  })
}
