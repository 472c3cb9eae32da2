import { fromPgPool, type SqlClient } from '@gatewright/kernel/sql'
import type pg from 'pg'
import type { Test } from 'tap'
import { openPostgresPool, uniqueName } from '../../../harness/stores.ts'

/** A pool whose connections cannot pipeline, like those of an older driver or of a wrapper. */
function oneByOne(pool: pg.Pool): Parameters<typeof fromPgPool>[0] {
  return {
    query: (text, values) => pool.query(text as string, values),
    connect: async () => {
      const connection = await pool.connect()
      return {
        query: (text, values) => connection.query(text as string, values),
        release: destroy => connection.release(destroy),
        on: (event, listener) => connection.on(event, listener),
        off: (event, listener) => connection.off(event, listener),
      }
    },
  }
}

/** The clients of a pool, by how they send the statements of a transaction. */
export const modes: Record<string, (pool: pg.Pool) => SqlClient> = {
  pipelined: pool => fromPgPool(pool),
  'pipelined and prepared': pool => fromPgPool(pool, { prepare: true }),
  'one by one': pool => fromPgPool(oneByOne(pool)),
  'in pipeline mode': pool => {
    pool.options.pipeline = true
    return fromPgPool(pool, { prepare: true })
  },
}

/** Counts what a pool's one connection writes to its socket. */
export async function countWrites(pool: pg.Pool): Promise<() => number> {
  const client = await pool.connect()
  let writes = 0
  const { stream } = client.connection
  // Called once for everything that the stream writes to the socket together.
  const writev = '_writev'
  const write = stream[writev]?.bind(stream)
  stream[writev] = (chunks, done) => {
    writes++
    write?.(chunks, done)
  }
  client.release()
  return () => writes
}

/** Opens a pool of one connection on a schema with two empty tables, and its client. */
export async function open(t: Test, mode: string): Promise<{ schema: string; pool: pg.Pool; db: SqlClient }> {
  const schema = uniqueName()
  const admin = await openPostgresPool(schema, 1)
  await admin.query('create table notes (id integer primary key)')
  await admin.query('create table replies (note integer references notes (id) deferrable initially deferred)')
  const pool = await openPostgresPool(schema, 1)
  t.teardown(async () => {
    await pool.end()
    await admin.query(`drop schema ${schema} cascade`)
    await admin.end()
  })
  return { schema, pool, db: (modes[mode] as (pool: pg.Pool) => SqlClient)(pool) }
}
