import type { SettleOutcome, SpendStorage } from '../storage/port.ts'
import { withinTime } from '../timeout.ts'
import type { SpendDependencies } from './plan.ts'

/** The hold that `reserve` returns. Plain data: it can be stored with the business row and settled days later. */
export interface SpendHold {
  readonly id: string
  readonly accountId: string
  /** Held US cents, at the rate when it was reserved. */
  readonly amountCents: number
  /** The requested amount, in its own currency. */
  readonly requested: { readonly amountCents: number; readonly currency: string }
  /** Whether the hold counts on any counter. False: no cap applies, or all is spent already, and ending the hold does nothing. */
  readonly held: boolean
}

/** Implements `Guard.settle`. */
export async function settleSpend(
  hold: SpendHold,
  dependencies: SpendDependencies,
  actual: number = hold.requested.amountCents,
): Promise<SettleOutcome> {
  if (!hold.held) return 'settled'
  const storage = storageOf(dependencies)
  if (!Number.isSafeInteger(actual) || actual < 0) {
    throw new TypeError('the actual amount must be a safe integer of at least 0')
  }
  const { amountCents: requested } = hold.requested
  if (actual > requested) return 'exceeds'
  const cents = proportion(hold.amountCents, actual, requested)
  return withinTime('spend store', dependencies.timeoutMs, () =>
    storage.settle(hold.accountId, hold.id, cents),
  )
}

/** Implements `Guard.release`. */
export async function releaseSpend(hold: SpendHold, dependencies: SpendDependencies): Promise<boolean> {
  if (!hold.held) return true
  const storage = storageOf(dependencies)
  return withinTime('spend store', dependencies.timeoutMs, () => storage.release(hold.accountId, hold.id))
}

function storageOf({ storage }: SpendDependencies): SpendStorage {
  if (!storage)
    throw new TypeError('a hold is ended in the store that it was reserved in: set the option spend')
  return storage
}

/** Computes `held * actual / requested`, rounded up, with integers only. */
function proportion(held: number, actual: number, requested: number): number {
  if (requested === 0) return 0
  const [h, a, r] = [BigInt(held), BigInt(actual), BigInt(requested)]
  return Number((h * a + r - 1n) / r)
}
