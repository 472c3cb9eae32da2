import type { SpendStorage } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { redisSpends } from '@gatewright/scope-guard/redis'
import { sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { openPostgres, openRedis, openSqlite, uniqueName } from '../../harness/stores.ts'

interface OpenedSpends {
  readonly spend: SpendStorage
  /** The same counters over another connection, where the store has connections. */
  readonly other: SpendStorage
  close(): Promise<void>
}

/** Every store of spend counters, each empty when it is opened. */
export const SPEND_STORES: readonly (readonly [name: string, open: () => Promise<OpenedSpends>])[] = [
  [
    'memory',
    async () => {
      const spend = memorySpends()
      return { spend, other: spend, close: async () => {} }
    },
  ],
  [
    'SQLite',
    async () => {
      const { connections, close } = await openSqlite(2, migrateSpends)
      return { spend: sqliteSpends(connections[0]!), other: sqliteSpends(connections[1]!), close }
    },
  ],
  [
    'Postgres',
    async () => {
      const { connections, close } = await openPostgres(2, migrateSpends)
      return { spend: postgresSpends(connections[0]!), other: postgresSpends(connections[1]!), close }
    },
  ],
  [
    'Redis',
    async () => {
      const { connections, close } = await openRedis(2)
      const options = { prefix: `${uniqueName()}:` }
      const [spend, other] = connections.map(client => redisSpends(client, options))
      return { spend: spend!, other: other!, close }
    },
  ],
]
