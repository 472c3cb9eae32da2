import { toProtocolValue } from '../postgres/protocol.ts'
import type { SqlRow, SqlValue } from '../sql-client.ts'
import { assertOutsideTransactionScope } from '../transaction-scope.ts'
import { fromTransaction, type OrmClient, type OrmOptions, type RunStatement } from './orm-client.ts'

/** The part of a client of postgres.js, and of its transaction, that is used. */
export interface PostgresJsQueries {
  unsafe(text: string, values?: never[]): PromiseLike<readonly unknown[]>
  typed(value: never, type: number): unknown
}

/** A client of postgres.js. */
export interface PostgresJs<Tx> extends PostgresJsQueries {
  begin<T>(work: (tx: Tx) => T | Promise<T>): Promise<unknown>
  begin<T>(options: string, work: (tx: Tx) => T | Promise<T>): Promise<unknown>
  readonly options: object
}

/** What a transform of postgres.js changes in results. */
interface Transforms {
  readonly transform?: Readonly<Record<string, { readonly from?: unknown } | undefined>>
}

/** The functions of postgres.js that use a connection, beside a tagged text. */
export const POSTGRES_JS_METHODS: readonly string[] = ['unsafe', 'begin', 'reserve']

/** The type `unknown`: the server finds out the type, as if none were given. */
const UNKNOWN = 705

/**
 * Runs statements with postgres.js. Every value is sent as its text and without a type, as `pg` sends it: for a type of its own, postgres.js
 * would convert the text once more, such as that of a `jsonb`.
 */
export function onPostgresJs(queries: PostgresJsQueries): RunStatement {
  return async (text, values) => {
    const typed = values.map(value => queries.typed(toProtocolText(value) as never, UNKNOWN))
    return { rows: [...(await queries.unsafe(text, typed as never[]))] as readonly SqlRow[] }
  }
}

function toProtocolText(value: SqlValue): string | null {
  const sent = toProtocolValue(value)
  return sent instanceof Uint8Array ? `\\x${sent.toString('hex')}` : sent
}

/** Throws if postgres.js would rename the columns or change the values of results. */
export function assertNoTransform(name: string, options: object): void {
  const { transform = {} } = options as Transforms
  const changing = ['column', 'value', 'row'].filter(part => transform[part]?.from)
  if (changing.length === 0) return
  throw new TypeError(
    `${name}: the option transform.${changing.join(', transform.')} of postgres.js changes results: make another client without it`,
  )
}

/**
 * Makes a client over postgres.js: a handler's transaction is a `TransactionSql`. Use its `sql` in the application: the same client, but
 * it rejects inside a run. A fragment made with it may be a part of a query of the transaction.
 */
export function fromPostgresJs<Tx extends PostgresJsQueries, Sql extends PostgresJs<Tx>>(
  sql: Sql & PostgresJs<Tx>,
  options: OrmOptions = {},
): OrmClient<Tx> & { readonly sql: Sql } {
  assertNoTransform('fromPostgresJs', sql.options)
  const db = fromTransaction<Tx>(
    {
      name: 'fromPostgresJs',
      dialect: 'postgres',
      run: (text, values, tx) => onPostgresJs(tx ?? sql)(text, values),
      transaction: work => sql.begin(work),
      root: [{ of: sql, methods: POSTGRES_JS_METHODS }],
    },
    options,
  )
  const guarded = new Proxy(sql, {
    apply(target, self, values) {
      const query: { handle?: () => unknown } = Reflect.apply(target as never, self, values)
      const { handle } = query
      // A tagged text runs when it is awaited. Until then it may be a fragment.
      if (typeof handle === 'function')
        query.handle = () => {
          assertOutsideTransactionScope(db, 'the root client of fromPostgresJs')
          return handle.call(query)
        }
      return query
    },
  })
  return Object.assign(db, { sql: guarded })
}
