import type { SqlTransaction, SqlValue } from '../sql-client.ts'
import { canPipeline } from './pipeline.ts'
import type { DeferredStatement } from './pipeline.ts'
import { reasonOf } from './retries.ts'
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
  { run, runTogether, toDeferred }: StatementRunner,
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
  /** Whether a commit was sent that the database did not reject as a conflict. A broken connection leaves it open. */
  mayBeCommitted(): Promise<boolean>
} {
  let ended = false
  let begun = !lazyBegin
  let deferred: DeferredStatement[] = []
  /**
   * The last statement that was sent together with BEGIN or deferred statements, until it has succeeded. Until then it is unknown
   * whether a transaction is open that has all of them, so everything later waits for it, and fails with its error.
   */
  let carrier: Promise<PgResult> | undefined
  let committing: Promise<PgResult> | undefined
  const endedError = (): Error =>
    new Error('the transaction has ended: use tx only inside its own work function')
  const send = (text: string, values: readonly SqlValue[], commit: boolean): Promise<PgResult> => {
    const together = { begin: !begun, deferred, commit }
    const carries = together.begin || deferred.length > 0
    begun = true
    deferred = []
    const start = (): Promise<PgResult> =>
      carries || commit ? runTogether(connection, text, values, together) : run(connection, text, values)
    const sent = carrier ? carrier.then(start) : start()
    if (!carries) return sent
    carrier = sent
    const succeeded = (): void => {
      if (carrier === sent) carrier = undefined
    }
    sent.then(succeeded, ignore)
    return sent
  }
  const tx: SqlTransaction = {
    dialect: 'postgres',
    query: (text, values = []) => (ended ? Promise.reject(endedError()) : send(text, values, false)),
    commit(text, values = []) {
      if (ended) return Promise.reject(endedError())
      ended = true
      committing = send(text, values, true)
      return committing
    },
  }
  const defer: SqlTransaction['defer'] = (text, values = [], received) => {
    if (ended) throw endedError()
    deferred.push({ ...toDeferred(text, values), received })
  }
  return {
    tx: canPipeline(connection) ? { ...tx, defer } : tx,
    async commit() {
      ended = true
      const last = committing ? undefined : deferred.pop()
      if (last) committing = send(last.text, last.values, true)
      if (committing ?? carrier) await (committing ?? carrier)
      if (committing || !begun) return
      committing = run(connection, 'commit', [])
      assertCommitted(await committing)
    },
    async rollback() {
      ended = true
      if (!begun) return true
      // Statements that wait for an earlier one run behind it, so before the rollback and not after it.
      await carrier?.catch(ignore)
      if (isUnusable(connection)) return false
      return connection.query('rollback').then(
        () => true,
        () => false,
      )
    },
    async mayBeCommitted() {
      return (
        committing !== undefined &&
        (await committing.then(
          () => true,
          (error: unknown) => reasonOf(error) === undefined,
        ))
      )
    },
  }
}
