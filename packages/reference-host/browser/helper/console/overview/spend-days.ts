import type { Transaction } from '../wire.ts'

/** A category of spending, and the kinds of transactions that it adds up. */
interface Tag {
  readonly name: string
  readonly kinds: readonly string[]
}

/** Every category, in the order in which bars are stacked. Transactions without a category are under `OTHER`. */
const TAGS: readonly Tag[] = [
  { name: 'Cards', kinds: ['authorization'] },
  { name: 'Payments', kinds: ['payment'] },
  { name: 'Subscriptions', kinds: ['payin'] },
  { name: 'Bills', kinds: ['bill'] },
  { name: 'Withdrawals', kinds: ['withdrawal'] },
]
const OTHER: Tag = { name: 'Other', kinds: [] }
/** The kind of transactions that move money between the balance and contracts of the same account. */
const OWN = 'move'

const DAY_MS = 86_400_000

/** The spending of one UTC day. */
interface Day {
  /** Midnight, in ms. */
  readonly at: number
  /** Cents, by the index of the category in `Spending.tags`. */
  readonly cents: readonly number[]
  readonly total: number
}

/** The spending of each of the last days, by category. */
export interface Spending {
  /** The categories with any spending. */
  readonly tags: readonly Tag[]
  /** Oldest first; the last one is today. */
  readonly days: readonly Day[]
}

/** Returns the first instant of the last `count` UTC days. */
export function firstOf(count: number, now: number = Date.now()): number {
  return (Math.floor(now / DAY_MS) - count + 1) * DAY_MS
}

/**
 * How many UTC days there are from the oldest of some transactions, newest first, until today, today included: at least 1, and at most
 * `most`.
 */
export function daysOfData(
  transactions: readonly Pick<Transaction, 'createdAt'>[],
  most: number,
  now: number = Date.now(),
): number {
  const last = transactions.at(-1)
  // The clock of the host may be ahead.
  const oldest = last ? Math.min(now, Date.parse(last.createdAt)) : now
  return Math.min(most, Math.floor(now / DAY_MS) - Math.floor(oldest / DAY_MS) + 1)
}

/** Whether a transaction is money that left the account, or that is held to leave it. */
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
