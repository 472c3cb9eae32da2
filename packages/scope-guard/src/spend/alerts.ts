import { keyDigest, type EpochMs } from '@gatewright/kernel'
import { emitWarning } from '@gatewright/kernel/internal/platform'
import { LRUCache } from '#platform/lru'
import { keyOfPolicy, type SpendAccess } from '../access.ts'
import type { CounterItem } from '../policies/caps.ts'
import type { PolicyRule, Window } from '../policies/policy.ts'
import { isRolling, periodOf } from '../policies/rolling.ts'
import type { SpendStorage } from '../storage/port.ts'
import { withinTime } from '../timeout.ts'

/** Says that the use of a counter has reached the `alertAtPercent` of its cap. */
interface SpendAlert {
  /**
   * The same for every alert of one counter and window, on every host, and for no other one: drop an alert whose id you have. Of a
   * rolling window, the same within each period of its length, counted from 1970-01-01 UTC.
   */
  readonly id: string
  readonly accountId: string
  readonly policyId: string
  /** The key that has the policy: the first one of its lineage. Undefined for a policy of a session. */
  readonly keyId: string | undefined
  readonly rule: PolicyRule
  /** The operations that a limit names; undefined for a cap on all money. */
  readonly operations: readonly string[] | undefined
  readonly unit: 'cents' | 'count'
  readonly window: Window
  /** The time zone in which the window begins; undefined for UTC, and for a window without a calendar. */
  readonly timeZone: string | undefined
  /** The size of the cap. */
  readonly limit: number
  /** What is settled and held together after the reservation, at least `alertAtPercent` of the limit. */
  readonly used: number
  readonly alertAtPercent: number
  /** From this instant on nothing of `used` counts any more: the end of the window. Null: it always counts. */
  readonly resetsAt: EpochMs | null
}

/**
 * Receives alerts. `storage` is the store in which the amount was reserved: where that is one of an open transaction, write with it, so that
 * alert and amount commit together.
 */
export type OnAlert = (alert: SpendAlert, storage: SpendStorage) => void | Promise<void>

/** Gives the alerts of reservations. */
export type GiveAlerts = (
  access: SpendAccess,
  items: readonly CounterItem[],
  used: readonly number[],
  reservedIn: { readonly storage: SpendStorage | undefined; readonly timeoutMs: number },
) => Promise<void>

/** How many given alerts a process remembers. Those that it has forgotten may be given again. */
const MAX_GIVEN = 10_000

/**
 * Makes the function that gives the alerts of a reservation whose counters are used as far as `used` says. What was counted in `own`, the store
 * of the guard, gives each alert once in this process, or again if `onAlert` has failed. What is counted in another store gives its alert
 * each time, because its transaction may be rolled back. Never rejects: an alert changes no decision.
 */
export function alertGiver(onAlert: OnAlert, own: SpendStorage | undefined): GiveAlerts {
  const given = new LRUCache<string, true>({ maxSize: MAX_GIVEN })
  const give = async (alert: SpendAlert, storage: SpendStorage, timeoutMs: number): Promise<void> => {
    if (storage === own) {
      if (given.get(alert.id)) return
      given.set(alert.id, true, { size: 1 })
    }
    try {
      await withinTime('onAlert', timeoutMs, async () => onAlert(alert, storage))
    } catch (error) {
      given.delete(alert.id)
      emitWarning(error instanceof Error ? error : 'onAlert threw')
    }
  }
  return async (access, items, used, { storage, timeoutMs }) => {
    for (const [index, counter] of items.entries()) {
      const { alert } = counter
      const now = used[index] as number
      if (alert === undefined || now < alert.from) continue
      await give(alertOf(access, counter, now), storage as SpendStorage, timeoutMs)
    }
  }
}

function alertOf(
  { session: { accountId } }: SpendAccess,
  { item, alert, rule, policyId, operations, window, timeZone }: CounterItem,
  used: number,
): SpendAlert {
  const { counter, unit, cap: limit, expiresAt, buckets } = item
  const period = buckets && isRolling(window) ? periodOf(window, buckets.current) : null
  return {
    id: `alt_${keyDigest(JSON.stringify([accountId, counter, period]))}`,
    accountId,
    policyId,
    keyId: keyOfPolicy(policyId),
    rule,
    operations,
    unit,
    window,
    timeZone,
    limit,
    used,
    alertAtPercent: (alert as NonNullable<typeof alert>).percent,
    resetsAt: expiresAt,
  }
}
