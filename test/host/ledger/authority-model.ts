/** The policy members that limit money, as the tests set them. */
export interface MoneyPolicy {
  readonly maxAuthAmountCents?: number
  readonly dailySpendCapCents?: number
  readonly limits?: readonly {
    readonly operations: readonly string[]
    readonly window: 'operation' | 'day' | 'month' | 'total'
    readonly maxCents: number
  }[]
}

/** The caller's policies, from its root key to its session. A policy is the same object throughout. */
export type Chain = readonly { policy: MoneyPolicy }[]

/** The used amount of one policy in one window. */
interface UsedAmount {
  readonly counter: string
  readonly cents: number
}

/** What a reservation added to the counters. */
export type Charge = readonly UsedAmount[]

/**
 * Computes, slowly and independently of the packages, what policies allow: each member of each policy of a
 * chain is one cap, and a reservation adds its amount to all of them or to none.
 */
export class CapModel {
  readonly #used = new Map<string, number>()
  readonly #names = new Map<object, number>()

  /**
   * Adds the amount to every cap of the chain. Returns undefined and adds nothing when one cap would be
   * exceeded.
   */
  reserve(chain: Chain, operations: readonly string[], cents: number, now: number): Charge | undefined {
    const charge: UsedAmount[] = []
    for (const link of chain) {
      if (!this.#names.has(link)) this.#names.set(link, this.#names.size)
      for (const { name, window, most } of capsOf(link.policy, operations)) {
        if (window === 'operation' && cents > most) return undefined
        if (window === 'operation') continue
        const counter = `${this.#names.get(link)} ${name} ${labelOf(window, now)}`
        if ((this.#used.get(counter) ?? 0) + cents > most) return undefined
        charge.push({ counter, cents })
      }
    }
    this.restore(charge)
    return charge
  }

  /** Adds a reservation again whatever the caps, because its release was rolled back. */
  restore(charge: Charge): void {
    for (const { counter, cents } of charge) this.#used.set(counter, (this.#used.get(counter) ?? 0) + cents)
  }

  /** Returns what a reservation added. */
  release(charge: Charge): void {
    for (const { counter, cents } of charge) this.#used.set(counter, (this.#used.get(counter) ?? 0) - cents)
  }
}

interface Cap {
  readonly name: string
  readonly window: 'operation' | 'day' | 'month' | 'total'
  readonly most: number
}

function capsOf(
  { maxAuthAmountCents, dailySpendCapCents, limits = [] }: MoneyPolicy,
  called: readonly string[],
): Cap[] {
  const caps: Cap[] = []
  if (maxAuthAmountCents !== undefined)
    caps.push({ name: 'one', window: 'operation', most: maxAuthAmountCents })
  if (dailySpendCapCents !== undefined) caps.push({ name: 'daily', window: 'day', most: dailySpendCapCents })
  for (const { operations, window, maxCents } of limits) {
    if (!operations.some(operation => called.includes(operation))) continue
    caps.push({ name: `${window} ${operations.toSorted().join()}`, window, most: maxCents })
  }
  return caps
}

function labelOf(window: Cap['window'], now: number): string {
  const date = new Date(now).toISOString()
  return window === 'day' ? date.slice(0, 10) : window === 'month' ? date.slice(0, 7) : 'ever'
}

/** One payment that left an account. */
export interface Payment {
  readonly chain: Chain
  readonly operations: readonly string[]
  readonly cents: number
  readonly at: number
}

/**
 * Checks the promise itself: for each policy, the payments that its sessions triggered in a window do not
 * exceed its cap. Names the caps that were exceeded.
 */
export function overspent(payments: readonly Payment[]): string[] {
  const wrong: string[] = []
  for (const link of new Set(payments.flatMap(({ chain }) => chain))) {
    const triggered = payments.filter(({ chain }) => chain.includes(link))
    const all = [...new Set(triggered.flatMap(({ operations }) => operations))]
    for (const { name, window, most } of capsOf(link.policy, all)) {
      const sums = new Map<string, number>()
      for (const [n, { operations, cents, at }] of triggered.entries()) {
        if (!capsOf(link.policy, operations).some(cap => cap.name === name)) continue
        const label = window === 'operation' ? `payment ${n}` : labelOf(window, at)
        sums.set(label, (sums.get(label) ?? 0) + cents)
      }
      for (const [label, sum] of sums) if (sum > most) wrong.push(`${name}: ${sum} of ${most} in ${label}`)
    }
  }
  return wrong
}
