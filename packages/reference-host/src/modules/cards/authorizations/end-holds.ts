import type { SqlQueries } from '@gatewright/kernel/sql'
import type { Guard, SpendHold, SpendStorage } from '@gatewright/scope-guard'
import type { Authorization } from './store.ts'
import { incrementTable, approvedIncrements } from './increment-store.ts'

/** The services that end holds under the caps. */
export interface CapServices {
  readonly guard: Guard
  readonly spendStorage: (tx: SqlQueries) => SpendStorage
}

/**
 * Ends the holds of an authorization under the caps. `clearedCents` is attributed first to the amount of the authorization
 * itself, then to its increments in their order. Each part counts in the period in which it was requested.
 */
export async function endHolds(
  { guard, spendStorage }: CapServices,
  tx: SqlQueries,
  row: Authorization,
  clearedCents: number,
): Promise<void> {
  let left = clearedCents
  const end = async (hold: SpendHold | null, amountCents: number): Promise<number> => {
    const counted = Math.min(left, amountCents)
    left -= counted
    if (!hold?.held) return counted
    if (counted === 0) await guard.release(hold, spendStorage(tx))
    else await guard.settle(hold, counted, spendStorage(tx))
    return counted
  }
  await end(row.hold, row.amountCents - row.incrementedCents)
  if (row.incrementedCents === 0) return
  for (const increment of await approvedIncrements(tx, row)) {
    const countedCents = await end(increment.hold, increment.amountCents)
    await incrementTable.update(tx, increment, { countedCents })
  }
}
