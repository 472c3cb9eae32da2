import { randomUUID } from 'node:crypto'
import type { TestRunner } from '@gatewright/kernel/testing'
import type { IdempotencyStorage } from '../storage/port.ts'
import { deadlines, lateOwners, life } from './life.ts'
import { hygiene, races } from './races.ts'
import type { Test } from './support.ts'

/** A fresh or shared store, seen through several connections. */
export interface IdempotencyStorageUnderTest {
  /** The port over separate connections to one store; one entry for an in-process store. */
  readonly connections: readonly IdempotencyStorage[]
  /** Closes what `open` opened. */
  close(): Promise<void>
}

/**
 * The contract of `IdempotencyStorage`: run it against every adapter. `open` is called once per test and may
 * return views of one shared store, since keys are random; give it real connections where there are any.
 */
export function idempotencyStorageContract(
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<IdempotencyStorageUnderTest>,
): void {
  const test: Test = (title, run) =>
    it(title, async () => {
      const { connections, close } = await open()
      try {
        await run(index => connections[index % connections.length] as IdempotencyStorage, randomUUID())
      } finally {
        await close()
      }
    })
  describe(`IdempotencyStorage on ${name}`, () => {
    life(test)
    races(test)
    deadlines(test)
    lateOwners(test)
    hygiene(test)
  })
}
