import type { EpochMs } from '@gatewright/kernel'
import type { SpendItem } from '../storage/port.ts'
import type { Block } from './gates.ts'
import { operationMatcher } from './operations.ts'
import type { Policy, StoredPolicy, Window } from './policy.ts'
import { windowAt } from './windows.ts'

/** What kind of money an operation moves; undefined: none. */
export type SpendKind = 'spend' | 'withdrawal' | undefined

/** One cap of one policy, compiled. Caps of one name share a counter; the lowest of them binds. */
interface Cap {
  readonly rule: keyof Policy
  readonly policyId: string
  readonly unit: 'cents' | 'count'
  readonly window: Window
  readonly most: number
  /** The counter's name without its window: policy id first, so new keys and sessions find the same one. */
  readonly name: string
  applies(operation: string, kind: SpendKind): boolean
}

/** A counter that a call adds to, with what to say when it is full. */
export interface PlannedItem {
  readonly item: SpendItem
  readonly rule: keyof Policy
  readonly policyId: string
  readonly window: Window
}

/** The caps that bind one operation. */
export interface CapPlan {
  /** The first cap that counts money, if any: an amount in another currency cannot be judged without a rate. */
  readonly money: Block | undefined
  /** Whether a store is needed. */
  readonly counted: boolean
  /** The first cap on a single call that an amount passes. */
  overOneCall(cents: number): Block | undefined
  /** What a call adds to which counters, sorted by counter. */
  items(cents: number, now: EpochMs): readonly PlannedItem[]
  /** The first rule that needs a counter, for a host without a store. */
  readonly uncountable: Block | undefined
}

function capsOf({ id, policy }: StoredPolicy): Cap[] {
  const caps: Cap[] = []
  const add = (rule: keyof Policy, cap: Omit<Cap, 'rule' | 'policyId' | 'name'>, about: unknown[]): void => {
    caps.push({ ...cap, rule, policyId: id, name: JSON.stringify([id, rule, ...about]) })
  }
  const money = { unit: 'cents', applies: (_: string, kind: SpendKind) => kind !== undefined } as const
  const { maxAuthAmountCents, dailySpendCapCents, dailyWithdrawalCapCents, limits = [] } = policy
  if (maxAuthAmountCents !== undefined) {
    add('maxAuthAmountCents', { ...money, window: 'operation', most: maxAuthAmountCents }, [])
  }
  if (dailySpendCapCents !== undefined) {
    add('dailySpendCapCents', { ...money, window: 'day', most: dailySpendCapCents }, [])
  }
  if (dailyWithdrawalCapCents !== undefined) {
    const applies: Cap['applies'] = (_, kind) => kind === 'withdrawal'
    add(
      'dailyWithdrawalCapCents',
      { unit: 'cents', window: 'day', most: dailyWithdrawalCapCents, applies },
      [],
    )
  }
  for (const { operations, window, maxCents, maxCount } of limits) {
    const matches = operationMatcher(operations)
    const unit = maxCents === undefined ? 'count' : 'cents'
    const applies: Cap['applies'] = (operation, kind) =>
      matches(operation) && (unit === 'count' || kind !== undefined)
    const most = (maxCents ?? maxCount) as number
    add('limits', { unit, window, most, applies }, [unit, window, ...new Set([...operations].sort())])
  }
  return caps
}

/** Of caps with one name the lowest; sorted by name, so that neither amounts nor answers depend on order. */
function lowest(caps: readonly Cap[]): Cap[] {
  const byName = new Map<string, Cap>()
  for (const cap of caps) {
    const held = byName.get(cap.name)
    if (!held || cap.most < held.most) byName.set(cap.name, cap)
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const blockOf = ({ rule, policyId, window }: Cap): Block => ({ rule, policyId, window })

function planOf(caps: readonly Cap[]): CapPlan {
  const perCall = caps.filter(({ window }) => window === 'operation')
  const counted = caps.filter(({ window }) => window !== 'operation')
  const money = caps.find(({ unit }) => unit === 'cents')
  return {
    money: money && { rule: 'currency', policyId: money.policyId },
    counted: counted.length > 0,
    uncountable: counted[0] && blockOf(counted[0]),
    overOneCall(cents) {
      const over = perCall.find(({ most }) => cents > most)
      return over && { ...blockOf(over), remaining: over.most, unit: 'cents' }
    },
    items: (cents, now) =>
      counted.map(({ rule, policyId, unit, window, most, name }) => {
        const { label, endsAt } = windowAt(window as Exclude<Window, 'operation'>, now)
        const counter = `${name}@${label}`
        const amount = unit === 'cents' ? cents : 1
        return { item: { counter, unit, cap: most, amount, expiresAt: endsAt }, rule, policyId, window }
      }),
  }
}

/** Compiles the caps of a chain; the plan of each operation is made once. */
export function compileCaps(
  policies: readonly StoredPolicy[],
): (operations: readonly string[], kind: SpendKind) => CapPlan {
  const caps = lowest(policies.flatMap(capsOf))
  const plans = new Map<string, CapPlan>()
  return (operations, kind) => {
    const key = `${kind ?? ''} ${operations.join(' ')}`
    let plan = plans.get(key)
    if (!plan) {
      plan = planOf(caps.filter(cap => operations.some(operation => cap.applies(operation, kind))))
      plans.set(key, plan)
    }
    return plan
  }
}
