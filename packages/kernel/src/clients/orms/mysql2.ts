import { malformedReply } from '../../fault.ts'
import { SAVEPOINT } from '../mariadb-migration.ts'
import { inOrder, toPositional } from '../positional.ts'
import type { SqlRow, SqlValue } from '../sql-client.ts'
import { fromTransaction, type OrmClient, type OrmOptions, type RunStatement } from './orm-client.ts'

/** A statement of mysql2. These options are the same whatever the team has set for its pool. */
interface Mysql2Statement {
  readonly sql: string
  readonly values: never[]
  readonly rowsAsArray: false
  readonly nestTables: false
  readonly typeCast: true
}

/** The part of a pool of mysql2, and of its connection, that is used. */
export interface Mysql2Queries {
  query(statement: Mysql2Statement): Promise<readonly [unknown, ...unknown[]]>
  execute(statement: Mysql2Statement): Promise<readonly [unknown, ...unknown[]]>
}

/** A connection of a pool of `mysql2/promise`. */
export interface Mysql2Connection extends Mysql2Queries {
  release(): void
  destroy(): void
}

/**
 * Whether a run sees what earlier ones have committed must not depend on when it first read, so each statement has a snapshot of its own.
 * After a deadlock MariaDB rolls back and goes on: without autocommit, what follows is not committed separately.
 */
const BEGIN = [
  'set transaction isolation level read committed',
  'set autocommit = 0',
  `savepoint ${SAVEPOINT}`,
]
/** The savepoint is lost when a transaction ends, so the release fails unless it is still the same one. */
const COMMIT = [`release savepoint ${SAVEPOINT}`, 'commit']
const AFTER = 'set autocommit = 1'

/** InnoDB rolls transactions back that only share an index with another one, so they are repeated unless the options say otherwise. */
const RETRIES = 10

/**
 * Makes a client over a pool of `mysql2/promise` for MariaDB: a handler's transaction is a connection of it, in READ COMMITTED. Use it only for
 * statements that end no transaction: `commit`, and each change of a table, end it, and then the run rejects. With the flag `-FOUND_ROWS` of
 * mysql2, a repeated `end` of a run is not recognised.
 */
export function fromMysql2<Connection extends Mysql2Connection>(
  pool: Mysql2Queries & { getConnection(): Promise<Connection> },
  options: Pick<OrmOptions, 'retries' | 'onRetry'> = {},
): OrmClient<Connection> {
  return fromTransaction<Connection>(
    {
      name: 'fromMysql2',
      dialect: 'mariadb',
      run: (text, values, connection) => onMysql2(connection ?? pool)(text, values),
      async transaction(work) {
        const connection = await pool.getConnection()
        const run = onMysql2(connection)
        const runAll = async (texts: readonly string[]): Promise<void> => {
          for (const text of texts) await run(text, [])
        }
        let failure: { readonly error: unknown } | undefined
        try {
          await runAll(BEGIN)
          await work(connection)
          await runAll(COMMIT)
        } catch (error) {
          failure = { error }
        }
        try {
          if (failure) await run('rollback', [])
          await run(AFTER, [])
          connection.release()
        } catch {
          // What it had not committed is rolled back when it is closed.
          connection.destroy()
        }
        if (failure) throw failure.error
      },
      root: [{ of: pool, methods: ['query', 'execute', 'getConnection'] }],
    },
    { ...options, retries: options.retries ?? RETRIES },
  )
}

/** Runs statements with mysql2. Those with values are prepared: texts are never written into them. */
function onMysql2(queries: Mysql2Queries): RunStatement {
  return async (text, values) => {
    const { plain, order } = toPositional(text)
    const statement: Mysql2Statement = {
      sql: plain,
      values: inOrder(order, values).map(toParameter) as never[],
      rowsAsArray: false,
      nestTables: false,
      typeCast: true,
    }
    const [result] = await (order.length === 0 ? queries.query(statement) : queries.execute(statement))
    if (Array.isArray(result)) return { rows: result as readonly SqlRow[] }
    const { affectedRows } = (result ?? {}) as { readonly affectedRows?: unknown }
    if (typeof affectedRows !== 'number') throw malformedReply('mariadb', 'rows, or a count of them')
    return { rows: [], affected: affectedRows }
  }
}

/** mysql2 sends a `Buffer` as bytes, and another `Uint8Array` as a text. */
function toParameter(value: SqlValue): SqlValue {
  return value instanceof Uint8Array ? Buffer.from(value) : value
}
