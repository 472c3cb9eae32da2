// A process that uses old names as fast as it may, and says how often. Arguments: store (redis|postgres|sqlite), where
// (key prefix, schema or file), how many uses (0: until it is killed), flushMs. It prints the instant of each use,
// after noting it; a clean end flushes.
import { writeSync } from 'node:fs'
import { fromPgPool, fromSqlite } from '@gatewright/kernel/sql'
import { createUsageLog, type AliasUsageStorage } from '@gatewright/legacy-alias-router'
import { postgresAliasUsage } from '@gatewright/legacy-alias-router/postgres'
import { redisAliasUsage } from '@gatewright/legacy-alias-router/redis'
import { sqliteAliasUsage } from '@gatewright/legacy-alias-router/sqlite'
import Database from 'libsql'
import { openPostgresPool, openRedis } from '../harness/stores.ts'

const [store, where, uses, flushMs] = process.argv.slice(2) as [string, string, string, string]

async function open(): Promise<{ storage: AliasUsageStorage; close(): Promise<unknown> }> {
  if (store === 'redis') {
    const { connections, close } = await openRedis(1)
    return { storage: redisAliasUsage(connections[0]!, { prefix: where }), close }
  }
  if (store === 'postgres') {
    const pool = await openPostgresPool(where, 1)
    return { storage: postgresAliasUsage(fromPgPool(pool)), close: () => pool.end() }
  }
  const database = new Database(where)
  database.exec('pragma busy_timeout = 10000')
  return { storage: sqliteAliasUsage(fromSqlite(database)), close: async () => database.close() }
}

const { storage, close } = await open()
const log = createUsageLog({ storage, flushMs: Number(flushMs) })
const most = Number(uses) || Infinity
for (let index = 0; index < most; index++) {
  // Noted first: a printed use is a noted one, so what is stored can exceed what was printed by one at most.
  log.record(`key_${index % 50}`, ['prefix:/consumer/v1', `header:x-${index % 3}`])
  writeSync(1, `${Date.now()}\n`)
  if (index % 20 === 19) await new Promise(resolve => setTimeout(resolve, most === Infinity ? 5 : 1))
}
await log.flush()
await close()
