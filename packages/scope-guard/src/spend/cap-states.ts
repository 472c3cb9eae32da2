import type { Session, EpochMs } from '@gatewright/kernel'
import type { CountedCap } from '../policies/caps.ts'
import type { Chain } from '../policies/chain.ts'
import type { PolicyRule, Window } from '../policies/policy.ts'
import { freeAt, isRolling } from '../policies/rolling.ts'
import type { CounterUsage } from '../storage/port.ts'
import { withinTime } from '../timeout.ts'
import type { SpendDependencies } from './plan.ts'

/** One cap on a session, with its current usage. */
export interface CapState {
  readonly policyId: string
  readonly rule: PolicyRule
  /** The operations that a limit names; undefined for a cap on all money operations. */
  readonly operations: readonly string[] | undefined
  readonly unit: 'cents' | 'count'
  readonly window: Window
  /** The time zone in which the window begins; undefined for UTC, and for a window without a calendar. */
  readonly timeZone: string | undefined
  readonly cap: number
  /** From how many percent of the cap on an alert is given; undefined: none is. */
  readonly alertAtPercent: number | undefined
  /** What is settled and held together; 0 for a cap on one call. Undefined without a store: the cap then blocks. */
  readonly used: number | undefined
  /** The part of `used` that is held for calls whose outcome is open. */
  readonly held: number | undefined
  readonly remaining: number
  /**
   * When the next window begins, or in a rolling window when the first part is free again. Null for a cap without a window, and if nothing is
   * used of a rolling one.
   */
  readonly resetsAt: EpochMs | null
}

/** A cap with its usage; undefined usage for a cap that needs a counter on a host without a store. */
export interface CapUsage {
  readonly cap: CountedCap
  readonly usage: CounterUsage | undefined
}

const NOTHING: CounterUsage = { used: 0, held: 0 }

/** Implements `Guard.caps`. */
export async function capStates(
  chain: Chain,
  session: Session,
  dependencies: SpendDependencies,
): Promise<readonly CapState[]> {
  return (await readCapUsage(chain, session, dependencies)).map(capState)
}

/** Converts a cap with its usage for callers. */
export function capState({ cap: counted, usage }: CapUsage): CapState {
  const { name: _name, counter: _counter, endsAt, cap, ...about } = counted
  return {
    ...about,
    cap,
    used: usage?.used,
    held: usage?.held,
    remaining: usage === undefined ? 0 : Math.max(0, cap - usage.used),
    resetsAt: isRolling(counted.window) ? freeAt(counted.window, usage?.buckets ?? [], 0) : endsAt,
  }
}

/** Reads the usage of every cap of a chain in one call; in none if there is no counter to read. */
export async function readCapUsage(
  chain: Chain,
  { accountId }: Pick<Session, 'accountId'>,
  { storage, clock, timeoutMs }: SpendDependencies,
): Promise<readonly CapUsage[]> {
  const caps = chain.allCaps(clock.now())
  const counters = caps.flatMap(({ counter }) => (counter === undefined ? [] : [counter]))
  const usage =
    storage && counters.length > 0
      ? await withinTime('spend store', timeoutMs, () => storage.usage(accountId, counters))
      : []
  const usageBy = new Map(counters.map((counter, index) => [counter, usage[index]]))
  return caps.map(cap => ({
    cap,
    usage: cap.counter === undefined ? NOTHING : usageBy.get(cap.counter),
  }))
}
