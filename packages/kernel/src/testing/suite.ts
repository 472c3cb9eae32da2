import { randomUUID } from 'node:crypto'
import { Fault } from '../fault.ts'
import type { TestRunner } from './runner.ts'
import { withTimeLimit } from './time-limit.ts'

/** Adapters of one store whose connections fail on purpose. */
export interface FaultyStorage<Storage> {
  readonly healthy: Storage
  /** The connection dies before the store sees the request. */
  readonly cutBefore: Storage
  /** The store acts, then the connection dies before its reply arrives. */
  readonly cutAfter: Storage
  /** The store sends replies that the adapter cannot read. */
  readonly malformed: Storage
  close(): Promise<void>
}

/** A store that a contract suite reaches over several connections. */
interface ConnectedStorage<Storage> {
  /** The port over separate connections to one store; one entry for an in-process store. */
  readonly connections: readonly Storage[]
  /** True if the store deletes expired rows itself. */
  readonly expiresNatively?: boolean
  close(): Promise<void>
}

/** Whether an error is a `Fault` with a code of a store (`ERR_STORE_*`). */
export function isStoreFault(error: unknown): boolean {
  return error instanceof Fault && error.code.startsWith('ERR_STORE_')
}

/**
 * Returns a function that defines tests. Each test calls `open`, gets the result and a random key, and closes the result at the
 * end, within the time limit of a case.
 */
export function openedTests<Opened extends { close(): Promise<void> }>(
  runner: TestRunner,
  open: () => Promise<Opened>,
): (title: string, run: (opened: Opened, key: string) => Promise<void>) => void {
  const { it } = withTimeLimit(runner)
  return (title, run) =>
    it(title, async () => {
      const opened = await open()
      try {
        await run(opened, randomUUID())
      } finally {
        await opened.close()
      }
    })
}

/** Returns a function that defines tests as `openedTests` does: each uses the connections of a store round robin. */
export function connectionTests<Storage>(
  runner: TestRunner,
  open: () => Promise<ConnectedStorage<Storage>>,
): (
  title: string,
  run: (connection: (index: number) => Storage, key: string, expiresNatively: boolean) => Promise<void>,
) => void {
  const test = openedTests(runner, open)
  return (title, run) =>
    test(title, ({ connections, expiresNatively = false }, key) =>
      run(index => connections[index % connections.length] as Storage, key, expiresNatively),
    )
}
