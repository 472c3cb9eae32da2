// Random histories of simultaneous calls, which some sequential order must explain.
import { randomUUID } from 'node:crypto'
import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import fc from 'fast-check'
import { randomCases } from '../../harness/random-cases.ts'
import { isLinearizable, record, type Order } from './history.ts'

/** Instants before, at and after the ends of lease and retention, and of a clock that is behind. */
const afterMs = fc.constantFrom(-1, 0, 1, 59_999, 60_000, 60_001, 120_000, 180_000)
const begin: fc.Arbitrary<Order> = fc.record({
  verb: fc.constant('begin'),
  fingerprint: fc.constantFrom('a', 'a', 'b'),
  afterMs,
})
const end: fc.Arbitrary<Order> = fc.record({
  verb: fc.constant('end'),
  whose: fc.constantFrom('own', 'latest'),
  state: fc.constantFrom('done', 'free', 'lost'),
  afterMs,
})
const lane = fc.array(fc.oneof({ weight: 3, arbitrary: begin }, { weight: 2, arbitrary: end }), {
  minLength: 1,
  maxLength: 5,
})
export const history = fc.array(lane, { minLength: 4, maxLength: 4 })

/** Runs random histories of 4 lanes, and fails with the first that no sequential order explains. */
export async function checkHistories(
  connections: readonly IdempotencyStorage[],
  numRuns: number,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(history, async lanes => {
      const events = await record(lanes, connections, randomUUID())
      if (!isLinearizable(events)) throw new Error(`no order explains ${JSON.stringify(events, null, 1)}`)
    }),
    { numRuns: randomCases(numRuns), endOnFailure: true },
  )
}
