import type { SqlClient } from '@gatewright/kernel/sql'
import t from 'tap'
import { openPostgres } from '../stores.ts'

// Cases that every package with a store has, beside its contract suites.

/** Of a store in memory: `create` throws for a capacity that is not a positive integer. */
export function takesPositiveCapacity(create: (capacity: number) => unknown): void {
  void t.test('takes a capacity only if it is a positive integer', async t => {
    for (const capacity of [0, -1, 1.5, NaN]) t.throws(() => create(capacity), /capacity/)
    t.doesNotThrow(() => create(1))
  })
}

/** Of tables on Postgres: 8 instances create them at once, and one again. `use` fails unless the tables are there. */
export function migratesAtOnce(
  migrate: (db: SqlClient) => Promise<void>,
  use: (db: SqlClient) => Promise<unknown>,
): void {
  void t.test('migrates from 8 instances at once, and again', async t => {
    const { connections, close } = await openPostgres(8, async () => {})
    t.teardown(close)
    const [first] = connections as [SqlClient]
    await t.rejects(use(first))
    await Promise.all(connections.map(db => migrate(db)))
    await migrate(first)
    await t.resolves(use(first))
  })
}
