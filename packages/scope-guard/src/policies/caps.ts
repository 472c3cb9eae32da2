import type { Rule, EpochMs } from '@gatewright/kernel'
import { counterOwner } from '@gatewright/kernel/internal'
import type { Counter, SpendItem } from '../storage/port.ts'
import type { Block } from './predicates.ts'
import { patternsOf } from './operation-matcher.ts'
import type { PolicyRule, RollingWindow, StoredPolicy, Window } from './policy.ts'
import { bucketsAt, isRolling, leavesAt } from './rolling.ts'
import { windowAt } from './windows.ts'

/** From which use of a counter on an alert is given. */
interface AlertThreshold {
  readonly percent: number
  /** The percentage of the cap, rounded up, and at least 1: so an unused counter gives no alert. */
  readonly from: number
}

/** The kind of money movement; undefined for an operation that moves no money. */
type SpendKind = Rule['spends']

/** One cap of one policy, compiled. Caps with the same name share a counter; the lowest of them applies. */
export interface Cap {
  readonly rule: PolicyRule
  readonly policyId: string
  readonly unit: 'cents' | 'count'
  readonly window: Window
  /** The zone of its calendar window; undefined for UTC, and for a window without a calendar. */
  readonly timeZone: string | undefined
  readonly most: number
  /** The operations that a limit names; undefined for a cap on all money. */
  readonly operations: readonly string[] | undefined
  /** The counter's name without its window. It begins with the owner of the policy's counters: new keys and sessions use the same one. */
  readonly name: string
  /** Which calls of its operations the cap applies to. */
  readonly counts: 'calls' | 'money' | 'withdrawals'
  /** Whether it denies nothing by itself: what exceeds it must be approved. */
  readonly asks: boolean
  readonly alert: AlertThreshold | undefined
}

/** A counter that a call adds to, with the policy rule to name if its cap is reached. */
export interface CounterItem {
  readonly item: SpendItem
  readonly rule: PolicyRule
  readonly policyId: string
  readonly window: Window
  readonly timeZone: string | undefined
  /** The operations that a limit names; undefined for a cap on all money. */
  readonly operations: readonly string[] | undefined
  /** Whether it is a threshold, not a cap: what exceeds it must be approved. */
  readonly asks: boolean
  readonly alert: AlertThreshold | undefined
}

/** The caps that apply to one operation. */
export interface OperationCaps {
  /** Whether the cap of this name applies. */
  has(name: string): boolean
  /** The block for a currency without a rate. Undefined if no cap counts money. */
  readonly money: Block | undefined
  /** The first cap that needs a counter, which blocks on a host without a store. Undefined if no cap needs one. */
  readonly firstWithCounter: Block | undefined
  /** Returns the first cap on a single call that an amount exceeds. */
  overOneCall(cents: number): Block | undefined
  /** Returns the thresholds on a single call that an amount exceeds, the lowest first. */
  asking(cents: number): readonly Block[]
  /** Returns the amounts that a call adds to counters, sorted by counter. Thresholds of windows are among them. */
  items(cents: number, now: EpochMs): readonly CounterItem[]
}

const CALENDAR: readonly Window[] = ['day', 'week', 'month']

function capsOf({ id, policy }: StoredPolicy): Cap[] {
  const owner = counterOwner(id)
  const {
    maxAuthAmountCents,
    dailySpendCapCents,
    dailyWithdrawalCapCents,
    approveAboveCents,
    alertAtPercent,
    limits = [],
  } = policy
  const zoneOf = (window: Window): string | undefined =>
    policy.timeZone === 'UTC' || !CALENDAR.includes(window) ? undefined : policy.timeZone
  const onMoney = (
    rule: PolicyRule,
    most: number | undefined,
    window: Window,
    counts: Cap['counts'] = 'money',
  ): Cap[] => {
    if (most === undefined) return []
    const timeZone = zoneOf(window)
    const name = JSON.stringify([owner, rule, ...(timeZone === undefined ? [] : [timeZone])])
    const operations = undefined
    const asks = rule === 'approveAboveCents'
    const alert = window === 'day' ? alertOf(most, alertAtPercent) : undefined
    const counted = { most, operations, name, counts, asks, alert }
    return [{ rule, policyId: id, unit: 'cents', window, timeZone, ...counted }]
  }
  const onOperations = limits.map((limit): Cap => {
    const { operations: named, window, maxCents, maxCount, approveAboveCents: above } = limit
    const operations = [...new Set(named)].sort()
    const unit = maxCount === undefined ? 'cents' : 'count'
    const most = (maxCents ?? maxCount ?? above) as number
    const asks = above !== undefined
    const rule = asks ? 'approveAboveCents' : 'limits'
    const timeZone = zoneOf(window)
    const span = timeZone === undefined ? window : `${window} ${timeZone}`
    const name = JSON.stringify([owner, rule, unit, span, ...operations])
    const counts = unit === 'count' ? 'calls' : 'money'
    return {
      rule,
      policyId: id,
      unit,
      window,
      timeZone,
      most,
      operations,
      name,
      counts,
      asks,
      alert: alertOf(most, limit.alertAtPercent),
    }
  })
  return [
    ...onMoney('maxAuthAmountCents', maxAuthAmountCents, 'operation'),
    ...onMoney('approveAboveCents', approveAboveCents, 'operation'),
    ...onMoney('dailySpendCapCents', dailySpendCapCents, 'day'),
    ...onMoney('dailyWithdrawalCapCents', dailyWithdrawalCapCents, 'day', 'withdrawals'),
    ...onOperations,
  ]
}

function alertOf(cap: number, percent: number | undefined): AlertThreshold | undefined {
  if (percent === undefined) return undefined
  // With integers of any size: a cap may be as large as a safe integer.
  const from = Number((BigInt(cap) * BigInt(percent) + 99n) / 100n)
  return { percent, from: Math.max(1, from) }
}

/** Whether a cap applies to calls that move money in this way. `kind` is undefined for calls that move no money. */
export function isFor({ counts }: Cap, kind: SpendKind): boolean {
  return counts === 'calls' || kind === 'withdrawal' || (counts === 'money' && kind !== undefined)
}

/**
 * Keeps the lowest cap of each name, sorted by name, so that no result depends on the order of the policies. Of equal ones the first is
 * kept, with the lowest alert of them: an alert never changes which cap is named.
 */
function lowest(caps: readonly Cap[]): Cap[] {
  const byName = new Map<string, Cap>()
  for (const cap of caps) {
    const known = byName.get(cap.name)
    if (!known || cap.most < known.most) byName.set(cap.name, cap)
    else if (cap.most === known.most && alertsBefore(cap.alert, known.alert))
      byName.set(cap.name, { ...known, alert: cap.alert })
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const alertsBefore = (one: AlertThreshold | undefined, other: AlertThreshold | undefined): boolean =>
  (one?.percent ?? Infinity) < (other?.percent ?? Infinity)

const blockOf = ({ rule, policyId, window }: Cap): Block => ({ rule, policyId, window })
const overBlock = (cap: Cap, cents: number): Block => ({
  ...blockOf(cap),
  unit: 'cents',
  requested: cents,
  limit: cap.most,
})

function operationCaps(caps: readonly Cap[]): OperationCaps {
  const perCall = caps.filter(({ window, asks }) => window === 'operation' && !asks)
  const thresholds = caps
    .filter(({ window, asks }) => window === 'operation' && asks)
    .sort((a, b) => a.most - b.most)
  const counted = caps.filter(({ window }) => window !== 'operation')
  const money = caps.find(({ unit }) => unit === 'cents')
  return {
    has: name => caps.some(cap => cap.name === name),
    money: money && { rule: 'currency', policyId: money.policyId },
    firstWithCounter: counted[0] && blockOf(counted[0]),
    overOneCall(cents) {
      const over = perCall.find(({ most }) => cents > most)
      return over && { remaining: over.most, ...overBlock(over, cents) }
    },
    asking: cents => thresholds.filter(({ most }) => cents > most).map(cap => overBlock(cap, cents)),
    items: (cents, now) =>
      counted.map(cap => {
        const { rule, policyId, unit, window, timeZone, most, operations, asks, alert } = cap
        const amount = unit === 'cents' ? cents : 1
        return {
          item: itemOf(cap, { unit, cap: most, amount }, now),
          rule,
          policyId,
          window,
          timeZone,
          operations,
          asks,
          alert,
        }
      }),
  }
}

/** Makes the item of a cap with a counter. Only that of a rolling window has the member `buckets`, and only that of a calendar window `series`. */
function itemOf(
  { name, window, timeZone }: Cap,
  { unit, cap, amount }: Pick<SpendItem, 'unit' | 'cap' | 'amount'>,
  now: EpochMs,
): SpendItem {
  if (isRolling(window)) {
    const buckets = bucketsAt(window, now)
    const expiresAt = leavesAt(window, buckets.current)
    return { counter: name, unit, cap, amount, expiresAt, buckets }
  }
  const { label, endsAt } = windowAt(window as CalendarOrTotal, now, timeZone)
  const item = { counter: `${name}@${label}`, unit, cap, amount, expiresAt: endsAt }
  return endsAt === null ? item : { ...item, series: name }
}

type CalendarOrTotal = Exclude<Window, 'operation' | RollingWindow>

/** A cap with its counter in the window of an instant. A cap on one call has no counter. */
export interface CountedCap {
  /** Tells the caps of a chain apart. */
  readonly name: string
  readonly rule: PolicyRule
  readonly policyId: string
  readonly operations: readonly string[] | undefined
  readonly unit: 'cents' | 'count'
  readonly window: Window
  readonly timeZone: string | undefined
  readonly cap: number
  /** From how many percent of the cap on an alert is given; undefined: none is. */
  readonly alertAtPercent: number | undefined
  readonly counter: Counter | undefined
  /** When the calendar window ends; null for one that does not, and for a rolling one. */
  readonly endsAt: EpochMs | null
}

/** The caps of a chain. */
interface ChainCaps {
  /** Selects the caps that apply to any of these operations, each cap once. */
  select(operations: readonly string[], kind: SpendKind): OperationCaps
  /** Lists every cap, with its counter at an instant. */
  list(now: EpochMs): CountedCap[]
}

const NO_CAPS = operationCaps([])

/** Lists the caps of policies: the lowest of those that share a counter, sorted by name. */
export function listCaps(policies: readonly StoredPolicy[]): readonly Cap[] {
  return lowest(policies.flatMap(capsOf))
}

/** Maps each operation and `tag.*` that caps name to the indexes of these caps. */
export function indexByPattern(caps: readonly Cap[]): ReadonlyMap<string, readonly number[]> {
  const byPattern = new Map<string, readonly number[]>()
  for (const [index, { operations = [] }] of caps.entries()) {
    // Most patterns are named by one cap only. These share one array per cap.
    const alone = [index]
    for (const pattern of operations) {
      const named = byPattern.get(pattern)
      byPattern.set(pattern, named ? [...named, index] : alone)
    }
  }
  return byPattern
}

/** Compiles the caps of a chain, so that they are found by the operations and `tag.*` that they name. Selections are not cached. */
export function compileCaps(policies: readonly StoredPolicy[]): ChainCaps {
  const caps = listCaps(policies)
  const byPattern = indexByPattern(caps)
  const namedBy = (operation: string): number[] =>
    patternsOf(operation).flatMap(pattern => byPattern.get(pattern) ?? [])
  const onAllMoney = caps.flatMap(({ operations }, index) => (operations ? [] : [index]))
  return {
    select(operations, kind) {
      const onNamed = byPattern.size === 0 ? [] : operations.flatMap(namedBy)
      if (onNamed.length === 0 && (onAllMoney.length === 0 || kind === undefined)) return NO_CAPS
      const selected = [...new Set([...onAllMoney, ...onNamed])].sort((a, b) => a - b)
      const applied = selected.map(index => caps[index] as Cap).filter(cap => isFor(cap, kind))
      return applied.length === 0 ? NO_CAPS : operationCaps(applied)
    },
    list: now =>
      caps.map(({ rule, policyId, operations, unit, window, timeZone, most: cap, alert, name }) => {
        const alertAtPercent = alert?.percent
        const common = { name, rule, policyId, operations, unit, window, timeZone, cap, alertAtPercent }
        if (window === 'operation') return { ...common, counter: undefined, endsAt: null }
        if (isRolling(window))
          return { ...common, counter: { counter: name, buckets: bucketsAt(window, now) }, endsAt: null }
        const { label, endsAt } = windowAt(window, now, timeZone)
        return { ...common, counter: `${name}@${label}`, endsAt }
      }),
  }
}
