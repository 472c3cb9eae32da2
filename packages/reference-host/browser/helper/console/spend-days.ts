import type { Transaction } from './wire.ts'

/** A tag of spending, and the kinds of transaction that it adds up. */
export interface Tag {
  readonly name: string
  readonly kinds: readonly string[]
}

/** Every tag, in the order in which bars are stacked. What has no tag is under `OTHER`. */
const TAGS: readonly Tag[] = [
  { name: 'Cards', kinds: ['authorization'] },
  { name: 'Payments', kinds: ['payment'] },
  { name: 'Subscriptions', kinds: ['payin'] },
  { name: 'Bills', kinds: ['bill'] },
  { name: 'Withdrawals', kinds: ['withdrawal'] },
]
const OTHER: Tag = { name: 'Other', kinds: [] }
/** Money that stays the account's own: put aside, or back. */
const OWN = 'move'

const DAY_MS = 86_400_000

/** What was spent on one day of UTC. */
export interface Day {
  /** Midnight, in ms. */
  readonly at: number
  /** Cents by the place of the tag in `Spending.tags`. */
  readonly cents: readonly number[]
  readonly total: number
}

/** What was spent on each of the last days, by tag. */
export interface Spending {
  /** Those under which anything was spent. */
  readonly tags: readonly Tag[]
  /** Oldest first; the last one is today. */
  readonly days: readonly Day[]
}

/** The first instant of the last `count` days of UTC. */
export function firstOf(count: number, now: number = Date.now()): number {
  return (Math.floor(now / DAY_MS) - count + 1) * DAY_MS
}

/** Whether a transaction is money that left the account, or is promised to leave it. */
function isSpent({ direction, status, source }: Transaction): boolean {
  return direction === 'debit' && source.kind !== OWN && (status === 'completed' || status === 'pending')
}

/** Adds up what was spent on each of the last `count` days. */
export function spendingOf(
  transactions: readonly Transaction[],
  count: number,
  now: number = Date.now(),
): Spending {
  const first = firstOf(count, now)
  const all = [...TAGS, OTHER]
  const sums = Array.from({ length: count }, () => all.map(() => 0))
  for (const transaction of transactions) {
    const day = Math.floor((Date.parse(transaction.createdAt) - first) / DAY_MS)
    const of = sums[day]
    if (!of || !isSpent(transaction)) continue
    const known = TAGS.findIndex(({ kinds }) => kinds.includes(transaction.source.kind))
    const tag = known === -1 ? TAGS.length : known
    of[tag] = (of[tag] ?? 0) + transaction.amountCents
  }
  const used = all.map((_, tag) => sums.some(of => (of[tag] ?? 0) > 0))
  const days = sums.map((of, day) => {
    const cents = of.filter((_, tag) => used[tag])
    return { at: first + day * DAY_MS, cents, total: cents.reduce((sum, each) => sum + each, 0) }
  })
  return { tags: all.filter((_, tag) => used[tag]), days }
}
