import { randomUUID } from 'node:crypto'
import { connectionTests } from '@gatewright/kernel/internal/testing'
import type { TestRunner } from '@gatewright/kernel/testing'
import type { IdempotencyStorage } from '../storage/port.ts'
import { leases } from './leases.ts'
import { deadlines, lateOwners, lifecycle } from './lifecycle.ts'
import { decisions, lostRunLists, takeOvers } from './lost-runs.ts'
import { collecting, races, texts } from './races.ts'
import type { DefineTest } from './support.ts'

/**
 * Defines the contract tests of `IdempotencyStorage`. Run them against every adapter. `open` is called once per test. It
 * returns the adapter over one or more connections to one store; use several real connections if there are any. The store
 * may be shared between tests, because keys are random.
 */
export function idempotencyStorageContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<{
    readonly connections: readonly IdempotencyStorage[]
    /** True if expired records are deleted without `collect`. Otherwise the suite requires that `collect` deletes them. */
    readonly expiresNatively?: boolean
    /** Closes what `open` opened. */
    close(): Promise<void>
  }>,
): void {
  const withId = connectionTests(runner, open)
  const test: DefineTest = (title, run) =>
    withId(title, (connection, id, expiresNatively) =>
      run(connection, `${id}.acc_${randomUUID()}`, expiresNatively),
    )
  runner.describe(`IdempotencyStorage on ${name}`, () => {
    lifecycle(test)
    races(test)
    deadlines(test)
    lateOwners(test)
    leases(test)
    takeOvers(test)
    decisions(test)
    lostRunLists(test)
    texts(test)
    collecting(test)
  })
}
