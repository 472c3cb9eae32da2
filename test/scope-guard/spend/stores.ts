import type { SpendStorage } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { redisSpends } from '@gatewright/scope-guard/redis'
import { sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { openPostgres, openRedis, openSqlite, uniqueName } from '../../harness/stores.ts'

interface OpenedSpends {
  readonly spend: SpendStorage
  close(): Promise<void>
}

/** Every store of spend counters, each empty when it is opened. */
export const SPEND_STORES: readonly (readonly [name: string, open: () => Promise<OpenedSpends>])[] = [
  ['memory', async () => ({ spend: memorySpends(), close: async () => {} })],
  [
    'SQLite',
    async () => {
      const { connections, close } = await openSqlite(1, migrateSpends)
      return { spend: sqliteSpends(connections[0]!), close }
    },
  ],
  [
    'Postgres',
    async () => {
      const { connections, close } = await openPostgres(1, migrateSpends)
      return { spend: postgresSpends(connections[0]!), close }
    },
  ],
  [
    'Redis',
    async () => {
      const { connections, close } = await openRedis(1)
      return { spend: redisSpends(connections[0]!, { prefix: `${uniqueName()}:` }), close }
    },
  ],
]
