import { rows, type SqlClient } from '@gatewright/kernel/sql'
import type { Operation } from '@gatewright/host'
import type { Providers } from '@gatewright/reference-host'
import type { Test } from 'tap'
import {
  openMoney,
  type MoneySetUp,
  type OperationRequest,
  type OperationResult,
} from './money-operations.ts'

/** Two requests on Postgres that meet in their transactions. */
export interface AtOnce extends MoneySetUp {
  /**
   * Runs a request, and before its transaction commits a second one at another connection, until that waits for a lock or has ended.
   * Returns both results.
   */
  runTwo(
    operation: (services: MoneySetUp['services']) => Operation,
    accountId: string,
    request?: OperationRequest,
  ): Promise<readonly [OperationResult, OperationResult]>
  /** The second connection, and what resolves when a transaction waits for a lock or `ended` resolves. */
  readonly second: SqlClient
  untilBlocked(ended: Promise<unknown>): Promise<void>
}

/** Opens a database on Postgres with connections for two requests. */
export async function openAtOnce(t: Test, providers: Providers = {}): Promise<AtOnce> {
  const setUp = await openMoney(t, providers, 'postgres', 3)
  const [second, watcher] = setUp.others as [SqlClient, SqlClient]
  const untilBlocked = async (ended: Promise<unknown>): Promise<void> => {
    const isBlocked = async (): Promise<boolean> =>
      (await rows(watcher, 'select 1 from pg_locks where not granted')).length > 0
    const turn = (): Promise<boolean> => new Promise(resolve => setImmediate(resolve, false))
    const end = ended.then(
      () => true,
      () => true,
    )
    while (!(await isBlocked()) && !(await Promise.race([end, turn()])));
  }
  return {
    ...setUp,
    second,
    untilBlocked,
    async runTwo(operation, accountId, request = {}) {
      let later: Promise<OperationResult> | undefined
      const first = await setUp.run(operation(setUp.services), accountId, {
        ...request,
        async beforeCommit() {
          const atSecond = operation({ ...setUp.services, db: second })
          later = setUp.run(atSecond, accountId, { ...request, on: second })
          await untilBlocked(later)
        },
      })
      if (!later) throw new Error('the first request was denied')
      return [first, await later]
    },
  }
}
