import { Fault, toFault } from '../../fault.ts'
import { checkOptions } from '../../options.ts'
import type { PgPoolOptions } from '../postgres/pool.ts'
import { codeOf, driverError, reasonOf, withRetries, type Attempt } from '../postgres/retries.ts'
import type { SqlClient, SqlDialect, SqlQueries, SqlReply, SqlTransaction, SqlValue } from '../sql-client.ts'
import { assertOutsideTransactionScope } from '../transaction-scope.ts'
import { createTurns } from '../turns.ts'

/**
 * A `SqlClient` whose transactions are those of an ORM or driver that a team uses already. `Tx` is what the ORM passes to the work of
 * a transaction. Given to `createTransactionalIdempotency` as `db`, its handlers get that `Tx`.
 */
export interface OrmClient<Tx> extends SqlClient {
  /** Returns the transaction of the ORM of an open `tx` of this client. Throws a `TypeError` for another one. */
  ormTransaction(tx: SqlQueries): Tx
  /**
   * Returns the open `tx` of this client that runs in a transaction of the ORM, for storages of other packages: `postgresSpends(db.queries(tx))`.
   * Throws a `TypeError` for a transaction that this client has not begun.
   */
  queries(tx: Tx): SqlTransaction
}

/** Options of the clients over ORMs: those of `fromPgPool`. Statements of Postgres are never prepared. On SQLite they have no effect. */
export type OrmOptions = Omit<PgPoolOptions, 'prepare'>

/** Runs a statement with `$1`, `$2`, ... and returns its rows by column name. */
export type RunStatement = (text: string, values: readonly SqlValue[]) => Promise<SqlReply>

/** What `fromTransaction` needs of an ORM or driver. */
export interface TransactionSource<Tx extends object> {
  /** The function that makes the client, for messages. Default `fromTransaction`. */
  readonly name?: string
  readonly dialect: SqlDialect
  /**
   * Runs a statement with `$1`, `$2`, ... in a transaction of the ORM, or outside transactions if none is given, and returns its rows by
   * column name.
   */
  run(text: string, values: readonly SqlValue[], tx?: Tx): Promise<SqlReply>
  /** Begins, runs the work, and commits if it resolves, or rolls back if it rejects. */
  transaction(work: (tx: Tx) => Promise<void>): PromiseLike<unknown>
  /** The objects of the team that use other connections, and their methods that do. They reject inside a run. Default: none. */
  readonly root?: readonly { readonly of: object; readonly methods: readonly string[] }[]
}

/**
 * Makes a client over an ORM or driver that has no function of its own here. Its objects and connections are used as they are, except that
 * the methods in `root` reject inside a run with `ERR_OUTSIDE_TRANSACTION`: what they write would be committed separately. Without `root`
 * such a use is not detected. Test your client with `sqlClientContract` of `@gatewright/kernel/testing`.
 */
export function fromTransaction<Tx extends object>(
  orm: TransactionSource<Tx>,
  options: OrmOptions = {},
): OrmClient<Tx> {
  const { name = 'fromTransaction', root = [] } = orm
  const { retries, onRetry } = checkOptions(name, options, {
    retries: { min: 0, max: 100, default: 0 },
    onRetry: { is: 'function', default: () => {} },
  })
  const repeated = { most: retries, onRetry }
  const store = orm.dialect
  // SQLite has one writer, and drivers wait for another connection's lock without giving up the thread.
  const inTurn = store === 'sqlite' ? createTurns() : <T>(run: () => Promise<T>): Promise<T> => run()
  const ormTransactions = new WeakMap<SqlQueries, OpenTransaction<Tx>>()
  const transactions = new WeakMap<Tx, SqlTransaction>()

  const transact = async <T>(work: (tx: SqlTransaction) => Promise<T>, attempt: Attempt): Promise<T> => {
    let result: { readonly value: T } | undefined
    let failure: { readonly error: unknown } | undefined
    const workInTransaction = async (ormTx: Tx): Promise<void> => {
      const open = openTransaction(orm, ormTx)
      ormTransactions.set(open.tx, open)
      transactions.set(ormTx, open.tx)
      try {
        const value = await work(open.tx)
        await open.assertNotAborted()
        result = { value }
      } catch (error) {
        failure = { error }
        throw error
      } finally {
        open.end()
      }
    }
    try {
      await orm.transaction(workInTransaction)
    } catch (error) {
      // An ORM may wrap the error of the work, or throw that of a rollback on a connection that died.
      if (failure) throw failure.error
      attempt.mayBeCommitted = result !== undefined && reasonOf(error) === undefined
      throw storeFault(store, error)
    }
    if (!result) throw new Fault('ERR_STORE_UNAVAILABLE', `${name}: the transaction did not run`)
    return result.value
  }

  const db: OrmClient<Tx> = {
    dialect: store,
    async query(text, values = []) {
      assertOutsideTransactionScope(db)
      const run = (): ReturnType<RunStatement> => faulting(store, () => orm.run(text, values))
      return withRetries(repeated, () => (/^\s*select\b/i.test(text) ? run() : inTurn(run)))
    },
    async transaction(work) {
      assertOutsideTransactionScope(db)
      return withRetries(repeated, attempt => inTurn(() => transact(work, attempt)))
    },
    ormTransaction(tx) {
      const open = ormTransactions.get(tx)
      if (!open) throw new TypeError(`${name}: this is not a transaction of this client`)
      return open.handOut()
    },
    queries(ormTx) {
      const tx = transactions.get(ormTx)
      if (!tx) throw new TypeError(`${name}: this client has not begun this transaction`)
      return tx
    },
  }
  for (const { of, methods } of root) rejectInside(db, name, of as Record<string, unknown>, methods)
  return db
}

/** A transaction of the client that runs in one of the ORM. */
interface OpenTransaction<Tx> {
  readonly tx: SqlTransaction
  /** Returns the ORM's transaction to its user. */
  handOut(): Tx
  /** Rejects if the database will roll back instead of committing. */
  assertNotAborted(): Promise<void>
  end(): void
}

function openTransaction<Tx extends object>(orm: TransactionSource<Tx>, ormTx: Tx): OpenTransaction<Tx> {
  let ended = false
  /** Whether a statement may have failed since the last one that is known to have succeeded. */
  let mayBeAborted = false
  const query = async (text: string, values: readonly SqlValue[] = []): ReturnType<RunStatement> => {
    if (ended) throw new Error('the transaction has ended: use tx only inside its own work function')
    try {
      const reply = await faulting(orm.dialect, () => orm.run(text, values, ormTx))
      mayBeAborted = false
      return reply
    } catch (error) {
      mayBeAborted = true
      throw error
    }
  }
  return {
    tx: { dialect: orm.dialect, query },
    handOut() {
      mayBeAborted = true
      return ormTx
    },
    async assertNotAborted() {
      // In a failed transaction, Postgres replies to COMMIT with ROLLBACK and no error, and ORMs do not look at the reply.
      if (mayBeAborted && orm.dialect === 'postgres') await query('select 1')
    },
    end() {
      ended = true
    },
  }
}

/** Turns an error of an ORM into a fault whose cause is the driver's error, as that of `fromPgPool` is. */
function storeFault(store: SqlDialect, error: unknown): Fault {
  if (error instanceof Fault) return error
  const found = driverError(error)
  if (found === undefined || found instanceof Error) return toFault(store, found ?? error)
  // Prisma has no error of the driver, only what it says.
  const described = new Error('the database rejected a statement', { cause: error })
  return toFault(store, Object.assign(described, { code: codeOf(error) }))
}

async function faulting<T>(store: SqlDialect, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw storeFault(store, error)
  }
}

function rejectInside(
  db: SqlClient,
  name: string,
  of: Record<string, unknown>,
  methods: readonly string[],
): void {
  for (const method of methods) {
    const original = of[method]
    if (typeof original !== 'function')
      throw new TypeError(`${name}: expected a function ${method}: this version is not supported`)
    of[method] = function (this: unknown, ...values: unknown[]): unknown {
      assertOutsideTransactionScope(db, `the root client of ${name} (${method})`)
      return Reflect.apply(original, this, values)
    }
  }
}
