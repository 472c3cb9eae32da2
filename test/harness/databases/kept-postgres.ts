import { fromPgPool, type SqlClient } from '@gatewright/kernel/sql'
import type pg from 'pg'
import root from 'tap'
import { EMPTY } from './empty.ts'
import { openPostgresPool, uniqueName, type Connections } from '../stores.ts'

type Migrate = (db: SqlClient) => Promise<void>

interface KeptSchema {
  readonly schema: string
  readonly migrate: Migrate
  readonly pools: pg.Pool[]
  /** One for each pool. */
  readonly connections: SqlClient[]
}

/** Schemas that no test uses now. */
const idle: KeptSchema[] = []

/**
 * As `openPostgres`, but in a schema of the same `migrate` that an earlier test of the file has left, emptied, and on its connections:
 * to create the tables of a host and to connect four times takes 300 ms of CPU. A test that changes the tables themselves needs
 * `openPostgres`. Schemas are dropped when the file ends.
 */
export async function openKeptPostgres(
  count: number,
  migrate: Migrate,
): Promise<Connections<SqlClient> & { readonly schema: string }> {
  const at = idle.findIndex(kept => kept.migrate === migrate)
  const [kept = await createSchema(migrate)] = at < 0 ? [] : idle.splice(at, 1)
  while (kept.pools.length < count) await connect(kept)
  return {
    schema: kept.schema,
    connections: kept.connections.slice(0, count),
    async close() {
      await kept.pools[0]?.query(EMPTY)
      idle.push(kept)
    },
  }
}

async function createSchema(migrate: Migrate): Promise<KeptSchema> {
  const kept: KeptSchema = { schema: uniqueName(), migrate, pools: [], connections: [] }
  root.teardown(async () => {
    if (idle.includes(kept)) idle.splice(idle.indexOf(kept), 1)
    await kept.pools[0]?.query(`drop schema ${kept.schema} cascade`)
    await Promise.all(kept.pools.map(pool => pool.end()))
  })
  await migrate(await connect(kept))
  return kept
}

async function connect({ schema, pools, connections }: KeptSchema): Promise<SqlClient> {
  const pool = await openPostgresPool(schema, 1)
  const client = fromPgPool(pool)
  pools.push(pool)
  connections.push(client)
  return client
}
