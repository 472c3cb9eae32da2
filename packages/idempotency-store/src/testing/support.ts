import assert from 'node:assert/strict'
import type { EpochMs } from '@gatewright/kernel'
import type { BeginResult, IdempotencyStorage } from '../storage/port.ts'

/** The fixed time of the tests. The port takes `now`, so no test waits. */
export const NOW: EpochMs = 1_767_225_600_000
export const MINUTE: number = 60_000
export const DAY: number = 86_400_000
export const LEASE: EpochMs = NOW + MINUTE

/** Asserts that a begin has started, and returns its fence. */
export function started(begun: BeginResult): number {
  assert.equal(begun.state, 'started')
  return (begun as { fence: number }).fence
}

/** Defines one test. `connection(i)` is the adapter over connection `i`, round robin; `key` is random. */
export type DefineTest = (
  title: string,
  run: (
    connection: (index: number) => IdempotencyStorage,
    key: string,
    expiresNatively: boolean,
  ) => Promise<void>,
) => void
