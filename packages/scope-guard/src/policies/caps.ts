import { counterOwner, type EpochMs, type Rule } from '@gatewright/kernel'
import type { SpendItem } from '../storage/port.ts'
import type { Block } from './predicates.ts'
import { operationMatcher } from './operation-matcher.ts'
import type { Policy, StoredPolicy, Window } from './policy.ts'
import { windowAt } from './windows.ts'

/** The kind of money movement; undefined for an operation that moves no money. */
export type SpendKind = Rule['spends']

/** One cap of one policy, compiled. Caps with the same name share a counter; the lowest of them applies. */
interface Cap {
  readonly rule: keyof Policy
  readonly policyId: string
  readonly unit: 'cents' | 'count'
  readonly window: Window
  readonly most: number
  /** The operations that a limit names; undefined for a cap on all money. */
  readonly operations: readonly string[] | undefined
  /** The counter's name without its window. It begins with the owner of the policy's counters: new keys and sessions use the same one. */
  readonly name: string
  applies(operation: string, kind: SpendKind): boolean
}

/** A counter that a call adds to, with the policy rule to name if its cap is reached. */
export interface CounterItem {
  readonly item: SpendItem
  readonly rule: keyof Policy
  readonly policyId: string
  readonly window: Window
}

/** The caps that apply to one operation. */
export interface OperationCaps {
  /** The block for a currency without a rate. Undefined if no cap counts money. */
  readonly money: Block | undefined
  /** The block for a host without a store: the first cap that needs a counter. Undefined if no cap needs one. */
  readonly firstCounted: Block | undefined
  /** The first cap on a single call that an amount exceeds. */
  overOneCall(cents: number): Block | undefined
  /** The amounts that a call adds to counters, sorted by counter. */
  items(cents: number, now: EpochMs): readonly CounterItem[]
}

function capsOf({ id, policy }: StoredPolicy): Cap[] {
  const caps: Cap[] = []
  const add = (
    rule: keyof Policy,
    cap: Omit<Cap, 'rule' | 'policyId' | 'name' | 'operations'>,
    about: unknown[],
    limited?: readonly string[],
  ): void => {
    const name = JSON.stringify([counterOwner(id), rule, ...about])
    caps.push({ ...cap, rule, policyId: id, name, operations: limited })
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
    const sorted = [...new Set([...operations].sort())]
    add('limits', { unit, window, most, applies }, [unit, window, ...sorted], sorted)
  }
  return caps
}

/** Keeps the lowest cap of each name, sorted by name, so that no result depends on the order of the policies. */
function lowest(caps: readonly Cap[]): Cap[] {
  const byName = new Map<string, Cap>()
  for (const cap of caps) {
    const known = byName.get(cap.name)
    if (!known || cap.most < known.most) byName.set(cap.name, cap)
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const blockOf = ({ rule, policyId, window }: Cap): Block => ({ rule, policyId, window })

function operationCaps(caps: readonly Cap[]): OperationCaps {
  const perCall = caps.filter(({ window }) => window === 'operation')
  const counted = caps.filter(({ window }) => window !== 'operation')
  const money = caps.find(({ unit }) => unit === 'cents')
  return {
    money: money && { rule: 'currency', policyId: money.policyId },
    firstCounted: counted[0] && blockOf(counted[0]),
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

/** A cap, with the counter that adds up to it in the window of an instant; a cap on one call has no counter. */
export interface CountedCap {
  readonly rule: keyof Policy
  readonly policyId: string
  readonly operations: readonly string[] | undefined
  readonly unit: 'cents' | 'count'
  readonly window: Window
  readonly cap: number
  readonly counter: string | undefined
  readonly endsAt: EpochMs | null
}

/** Lists every cap of a chain, at an instant. */
export function listCaps(policies: readonly StoredPolicy[], now: EpochMs): CountedCap[] {
  return lowest(policies.flatMap(capsOf)).map(
    ({ rule, policyId, operations, unit, window, most: cap, name }) => {
      const common = { rule, policyId, operations, unit, window, cap }
      if (window === 'operation') return { ...common, counter: undefined, endsAt: null }
      const { label, endsAt } = windowAt(window, now)
      return { ...common, counter: `${name}@${label}`, endsAt }
    },
  )
}

/** Lists the caps that count or limit one operation: the lowest of those that share a counter. */
export function capsOn(
  policies: readonly StoredPolicy[],
  operation: string,
  kind: SpendKind,
): readonly Pick<Cap, 'rule' | 'name' | 'most'>[] {
  return lowest(policies.flatMap(capsOf)).filter(cap => cap.applies(operation, kind))
}

/** Compiles the caps of a chain. The caps of each operation are selected once. */
export function compileCaps(
  policies: readonly StoredPolicy[],
): (operations: readonly string[], kind: SpendKind) => OperationCaps {
  const caps = lowest(policies.flatMap(capsOf))
  const byOperation = new Map<string, OperationCaps>()
  return (operations, kind) => {
    const key = `${kind ?? ''} ${operations.join(' ')}`
    let selected = byOperation.get(key)
    if (!selected) {
      selected = operationCaps(caps.filter(cap => operations.some(operation => cap.applies(operation, kind))))
      byOperation.set(key, selected)
    }
    return selected
  }
}
