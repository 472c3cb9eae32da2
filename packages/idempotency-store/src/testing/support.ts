import assert from 'node:assert/strict'
import type { EpochMs } from '@gatewright/kernel'
import type { Begun, IdempotencyStorage } from '../storage/port.ts'

/** Fixed for the suite: the port takes `now`, so nothing here waits. */
export const NOW: EpochMs = 1_767_225_600_000
export const MINUTE: number = 60_000
export const DAY: number = 86_400_000
export const LEASE: EpochMs = NOW + MINUTE

/** The fence of a begin that must have started. */
export function started(begun: Begun): number {
  assert.equal(begun.state, 'started')
  return (begun as { fence: number }).fence
}

/** Adds one test over the connections of a store; every test has a fresh key. */
export type Test = (
  title: string,
  run: (at: (index: number) => IdempotencyStorage, key: string) => Promise<void>,
) => void
