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
  await shareOut(tx, row, clearedCents, async (hold, countedCents) => {
    if (!hold?.held) return
    if (countedCents === 0) await guard.release(hold, spendStorage(tx))
    else await guard.settle(hold, countedCents, spendStorage(tx))
  })
}

/**
 * Attributes what counts of an authorization for the limit of its card, held and cleared, to its amount and then to its increments. The
 * caps keep the whole amount until the authorization ends.
 */
export async function shareCounted(tx: SqlQueries, row: Authorization): Promise<void> {
  await shareOut(tx, row, row.heldCents + row.clearedCents, async () => {})
}

async function shareOut(
  tx: SqlQueries,
  row: Authorization,
  cents: number,
  each: (hold: SpendHold | null, countedCents: number) => Promise<void>,
): Promise<void> {
  let left = cents
  const take = async (hold: SpendHold | null, amountCents: number): Promise<number> => {
    const counted = Math.min(left, amountCents)
    left -= counted
    await each(hold, counted)
    return counted
  }
  await take(row.hold, row.amountCents - row.incrementedCents)
  if (row.incrementedCents === 0) return
  for (const increment of await approvedIncrements(tx, row)) {
    const countedCents = await take(increment.hold, increment.amountCents)
    await incrementTable.update(tx, increment, { countedCents })
  }
}
