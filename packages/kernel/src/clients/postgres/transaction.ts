import type { SqlTransaction, SqlValue } from '../sql-client.ts'
import {
  assertCommitted,
  isUnusable,
  type PgConnection,
  type PgResult,
  type StatementRunner,
} from './statement-runner.ts'

const ignore = (): void => {}

/**
 * Makes the `SqlTransaction` of a connection, and what ends it. With `lazyBegin` the first statement also sends BEGIN;
 * without it, the caller has sent BEGIN.
 */
export function openTransaction(
  connection: PgConnection,
  { run, runPipelined }: StatementRunner,
  lazyBegin: boolean,
): {
  readonly tx: SqlTransaction
  /** Commits, or waits for the commit that `tx.commit` has sent. */
  commit(): Promise<void>
  /**
   * Rolls back, if the connection is usable. Resolves to whether the connection can be used again. If not, the server rolls
   * back when the connection closes, unless a commit was sent.
   */
  rollback(): Promise<boolean>
} {
  let ended = false
  let begun = !lazyBegin
  /** The first statement, until it has succeeded. Until then it is unknown whether a transaction is open. */
  let beginning: Promise<PgResult> | undefined
  let committing: Promise<PgResult> | undefined
  const rejectEnded = (): Promise<never> =>
    Promise.reject(new Error('the transaction has ended: use tx only inside its own work function'))
  const markBegun = (): void => {
    beginning = undefined
  }
  const runWithBegin = (text: string, values: readonly SqlValue[], commit: boolean): Promise<PgResult> => {
    begun = true
    const first = runPipelined(connection, text, values, { begin: true, commit })
    beginning = first
    first.then(markBegun, ignore)
    return first
  }
  /** Runs a later statement once the first has succeeded. If the first failed, the later one fails with its error. */
  const runAfterBegin = (start: () => Promise<PgResult>): Promise<PgResult> =>
    beginning ? beginning.then(start) : start()
  return {
    tx: {
      dialect: 'postgres',
      query(text, values = []) {
        if (ended) return rejectEnded()
        return begun ? runAfterBegin(() => run(connection, text, values)) : runWithBegin(text, values, false)
      },
      commit(text, values = []) {
        if (ended) return rejectEnded()
        ended = true
        committing = begun
          ? runAfterBegin(() => runPipelined(connection, text, values, { begin: false, commit: true }))
          : runWithBegin(text, values, true)
        return committing
      },
    },
    async commit() {
      ended = true
      if (committing ?? beginning) await (committing ?? beginning)
      if (!committing && begun) assertCommitted(await run(connection, 'commit', []))
    },
    async rollback() {
      ended = true
      if (!begun) return true
      // Statements that wait for the first one run behind it, so before the rollback and not after it.
      await beginning?.catch(ignore)
      if (isUnusable(connection)) return false
      return connection.query('rollback').then(
        () => true,
        () => false,
      )
    },
  }
}
