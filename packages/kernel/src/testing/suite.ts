import { randomUUID } from 'node:crypto'
import { Fault } from '../fault.ts'
import type { TestRunner } from './runner.ts'

/** An adapter whose connection to the store can be hurt, for stores that have one. */
export interface FaultyStorage<Storage> {
  readonly healthy: Storage
  /** The connection dies before the store sees the request. */
  readonly cutBefore: Storage
  /** The store acts, then the connection dies before its answer arrives. */
  readonly cutAfter: Storage
  /** The store's answer is not what the adapter expects. */
  readonly malformed: Storage
  close(): Promise<void>
}

/** Whether an error is what a dead or nonsensical store must become: a `Fault` of a store. */
export function isStoreFault(error: unknown): boolean {
  return error instanceof Fault && error.code.startsWith('ERR_STORE_')
}

/** Defines tests that each open what they need, get it with a random key, and close it whatever happens. */
export function openedTests<Opened extends { close(): Promise<void> }>(
  { it }: TestRunner,
  open: () => Promise<Opened>,
): (title: string, run: (opened: Opened, key: string) => Promise<void>) => void {
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
