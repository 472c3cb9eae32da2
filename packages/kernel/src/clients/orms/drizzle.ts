import type { SqlDialect } from '../sql-client.ts'
import { LIBSQL_METHODS, onLibsql, type LibsqlQueries } from './libsql-client.ts'
import { fromTransaction, type OrmClient, type OrmOptions, type RunStatement } from './orm-client.ts'
import { onPg, type PgClient } from './pg-connection.ts'
import {
  assertNoTransform,
  onPostgresJs,
  POSTGRES_JS_METHODS,
  type PostgresJsQueries,
} from './postgres-js.ts'

/** A driver of Drizzle. */
interface Driver {
  readonly dialect: SqlDialect
  /** Runs statements on what the session of a database or transaction sends them to. */
  readonly on: (session: DrizzleSession) => RunStatement
  readonly methods: readonly string[]
}

/** What a session of Drizzle sends its statements to. Drizzle does not declare it in its types. */
interface DrizzleSession {
  readonly client: unknown
  /** The transaction of `@libsql/client`. */
  readonly tx?: unknown
}

const DRIVERS = {
  pg: {
    dialect: 'postgres',
    on: ({ client }) => onPg(client as PgClient),
    methods: ['connect', 'query'],
  },
  postgresJs: {
    dialect: 'postgres',
    on: ({ client }) => onPostgresJs(client as PostgresJsQueries),
    methods: POSTGRES_JS_METHODS,
  },
  libsql: {
    dialect: 'sqlite',
    on: ({ client, tx }) => onLibsql((tx ?? client) as LibsqlQueries),
    methods: LIBSQL_METHODS,
  },
} satisfies Record<string, Driver>

/**
 * Makes a client over Drizzle with `drizzle-orm/node-postgres` (a Pool), `drizzle-orm/postgres-js` or `drizzle-orm/libsql`: a handler's
 * transaction is the `tx` of `db.transaction`. Throws a `TypeError` for another driver.
 */
export function fromDrizzle<Tx extends object>(
  db: { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>; readonly $client: object },
  options: OrmOptions = {},
): OrmClient<Tx> {
  const client = db.$client
  const { dialect, on, methods } = driverOf(client)
  return fromTransaction<Tx>(
    {
      name: 'fromDrizzle',
      dialect,
      run: (text, values, tx) => on(tx ? sessionOf(tx) : { client })(text, values),
      transaction: work => db.transaction(work),
      root: [{ of: client, methods }],
    },
    options,
  )
}

function driverOf(client: object): Driver {
  const has = (method: string): boolean =>
    typeof (client as Readonly<Record<string, unknown>>)[method] === 'function'
  if (has('unsafe')) {
    assertNoTransform('fromDrizzle', (client as { readonly options: object }).options)
    return DRIVERS.postgresJs
  }
  if (has('connect') && has('query')) return DRIVERS.pg
  if (has('execute') && has('batch')) return DRIVERS.libsql
  throw new TypeError('fromDrizzle: the driver must be a Pool of pg, postgres.js or @libsql/client')
}

function sessionOf(tx: object): DrizzleSession {
  const { session } = tx as { readonly session?: Partial<DrizzleSession> }
  if (!session?.client)
    throw new TypeError('fromDrizzle: expected a session with a client: this version is not supported')
  return session as DrizzleSession
}
