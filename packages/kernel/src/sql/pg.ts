import { keyDigest } from '../digest.ts'
import { Fault, orFault, toFault } from '../fault.ts'
import { refuseConfined } from './confine.ts'
import type { SqlClient, SqlQueries, SqlRow, SqlValue } from './client.ts'

interface PgStatement {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

interface PgQueries {
  query(statement: string | PgStatement, values?: unknown[]): Promise<{ rows: SqlRow[] }>
}

interface PgConnection extends PgQueries {
  release(destroy?: boolean): void
  on(event: 'error', listener: () => void): unknown
  off(event: 'error', listener: () => void): unknown
}

interface PgPool extends PgQueries {
  connect(): Promise<PgConnection>
}

const ignore = (): void => {}

/** Options of `fromPgPool`. */
export interface PgPoolOptions {
  /**
   * Prepares each statement that has values, once per connection, so that the server does not plan it again.
   * Default false: a pooler in transaction mode may not carry prepared statements. Use it with a fixed set of texts.
   */
  readonly prepare?: boolean
}

/** Runs a statement as it is, or by the name of its text. Values are copied: it may wait in the pool's queue. */
function runner(
  prepare: boolean,
): (on: PgQueries, text: string, values: readonly SqlValue[]) => Promise<{ rows: SqlRow[] }> {
  const names = new Map<string, string>()
  return async (on, text, values) => {
    try {
      if (!prepare || values.length === 0) return await on.query(text, [...values])
      let name = names.get(text)
      if (name === undefined) {
        name = keyDigest(text)
        names.set(text, name)
      }
      return await on.query({ name, text, values: [...values] })
    } catch (cause) {
      throw toFault('postgres', cause)
    }
  }
}

/**
 * Recipe for a `pg` Pool. The pool stays the team's: size, TLS and timeouts are set on it, and it needs an
 * `error` listener, because an idle connection that dies would otherwise end the process.
 */
export function fromPgPool(pool: PgPool, { prepare = false }: PgPoolOptions = {}): SqlClient {
  const run = runner(prepare)
  const db: SqlClient = {
    async query(text, values = []) {
      refuseConfined(db)
      return run(pool, text, values)
    },
    async transaction(work) {
      refuseConfined(db)
      const connection = await orFault('postgres', () => pool.connect())
      // The pool listens on idle connections only. One that dies in use emits an error as well as failing its
      // statements, and without a listener that would end the process.
      connection.on('error', ignore)
      let healthy = false
      let open = true
      const tx: SqlQueries = {
        query: (text, values = []) =>
          open
            ? run(connection, text, values)
            : Promise.reject(
                new Error('the transaction has ended: use tx only inside its own work function'),
              ),
      }
      try {
        await orFault('postgres', () => connection.query('begin'))
        const result = await work(tx)
        open = false
        const reply = await orFault('postgres', () => connection.query('commit'))
        // COMMIT of a transaction that had failed answers ROLLBACK and no error.
        if ((reply as { command?: string }).command === 'ROLLBACK') {
          throw new Fault('ERR_STORE_UNAVAILABLE', 'postgres rolled the transaction back at commit')
        }
        healthy = true
        return result
      } catch (error) {
        open = false
        healthy = await connection.query('rollback').then(
          () => true,
          () => false,
        )
        throw error
      } finally {
        connection.off('error', ignore)
        connection.release(!healthy)
      }
    },
  }
  return db
}
