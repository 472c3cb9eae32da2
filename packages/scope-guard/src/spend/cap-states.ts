import type { EpochMs, Session } from '@gatewright/kernel'
import type { Chain } from '../policies/chain.ts'
import type { Policy, Window } from '../policies/policy.ts'
import { withinTime } from '../timeout.ts'
import type { SpendDependencies } from './plan.ts'

/** One cap on a session, and what counts against it now. */
export interface CapState {
  readonly policyId: string
  readonly rule: keyof Policy
  /** The operations that a limit names; undefined for a cap on all money operations. */
  readonly operations: readonly string[] | undefined
  readonly unit: 'cents' | 'count'
  readonly window: Window
  readonly cap: number
  /** Settled and held together; 0 for a cap on one call. Undefined without a store: the cap then blocks. */
  readonly used: number | undefined
  readonly remaining: number
  /** When its next window begins; null: never. */
  readonly resetsAt: EpochMs | null
}

/** Implements `Guard.caps`. */
export async function capStates(
  chain: Chain,
  { accountId }: Session,
  { storage, clock, timeoutMs }: SpendDependencies,
): Promise<readonly CapState[]> {
  const caps = chain.allCaps(clock.now())
  const counters = caps.flatMap(({ counter }) => (counter === undefined ? [] : [counter]))
  const amounts =
    storage && counters.length > 0
      ? await withinTime('spend store', timeoutMs, () => storage.used(accountId, counters))
      : []
  const usedBy = new Map(counters.map((counter, index) => [counter, amounts[index]]))
  return caps.map(({ counter, endsAt, cap, ...about }) => {
    const used = counter === undefined ? 0 : usedBy.get(counter)
    return {
      ...about,
      cap,
      used,
      remaining: used === undefined ? 0 : Math.max(0, cap - used),
      resetsAt: endsAt,
    }
  })
}
