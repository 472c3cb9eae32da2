import { toPositional, inOrder } from '../positional.ts'
import type { SqlDialect, SqlRow, SqlValue } from '../sql-client.ts'
import { fromTransaction, type OrmClient, type OrmOptions } from './orm-client.ts'

/** The part of `Kysely` and its `Transaction` that is used. */
export interface KyselyQueries {
  withoutPlugins(): { executeQuery(query: never): Promise<{ readonly rows: readonly unknown[] }> }
}

/** Options of `fromKysely`. */
export interface KyselyOptions extends OrmOptions {
  /** The database of the Kysely dialect, default `postgres`. */
  readonly dialect?: SqlDialect
}

/**
 * Makes a client over an instance of Kysely: a handler's transaction is a `Transaction<DB>`. Plugins do not change the statements of this
 * package. On SQLite give it one instance per process.
 */
export function fromKysely<Tx extends KyselyQueries>(
  db: KyselyQueries & {
    transaction(): { execute<T>(work: (tx: Tx) => Promise<T>): Promise<T> }
    getExecutor(): object
  },
  { dialect = 'postgres', ...options }: KyselyOptions = {},
): OrmClient<Tx> {
  return fromTransaction<Tx>(
    {
      name: 'fromKysely',
      dialect,
      async run(text, values, tx) {
        const plain = (tx ?? db).withoutPlugins()
        const { rows } = await plain.executeQuery(compiled(dialect, text, values) as never)
        return { rows: rows as readonly SqlRow[] }
      },
      transaction: work => db.transaction().execute(work),
      root: [{ of: db.getExecutor(), methods: ['provideConnection'] }],
    },
    options,
  )
}

/** Makes what `CompiledQuery.raw` of Kysely makes. */
function compiled(dialect: SqlDialect, text: string, values: readonly SqlValue[]): object {
  const { plain, order } = dialect === 'sqlite' ? toPositional(text) : { plain: text, order: undefined }
  const parameters = order ? inOrder(order, values) : [...values]
  return {
    sql: plain,
    parameters,
    query: { kind: 'RawNode', sqlFragments: [plain], parameters: [] },
    queryId: { queryId: 'gatewright' },
  }
}
