import type { SpendStorage } from '../storage/port.ts'

/** The most holds that one run makes under its `effectId`. */
const MOST_HOLDS = 16

/**
 * Ends the holds of a run whose outcome an operator has decided: `endHolds` of idempotency-store. Its holds are those with the ids
 * `effectId`, `effectId-2` and so on up to 16, of the account of the run. `took_effect` settles them in full, `never_happened` releases them.
 * Holds that have ended stay as they are, so it can be repeated. Faults: those of the storage; then some holds may be open.
 */
export async function endRunHolds(
  storage: Pick<SpendStorage, 'settle' | 'release'>,
  { account, effectId }: { readonly account: string; readonly effectId: string },
  outcome: 'took_effect' | 'never_happened',
): Promise<void> {
  for (let nth = 1; nth <= MOST_HOLDS; nth++) {
    const holdId = nth === 1 ? effectId : `${effectId}-${nth}`
    if (outcome === 'took_effect') await storage.settle(account, holdId, null)
    else await storage.release(account, holdId)
  }
}
