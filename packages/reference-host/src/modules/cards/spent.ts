import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { windowStart } from './authorizations/limits.ts'
import { countedCents } from './authorizations/store.ts'
import type { Card } from './card.ts'

/**
 * Returns what the payments of each card use of its limit in the window that ends now, in cents. A card without a limit, or with one for
 * each payment, is absent. Reads once for each kind of window.
 */
export async function spentOfLimits(
  db: SqlQueries,
  accountId: string,
  cards: readonly Pick<Card, 'id' | 'limit'>[],
  now: EpochMs,
): Promise<ReadonlyMap<string, number>> {
  const spent = new Map<string, number>()
  const starts = new Map<EpochMs, string[]>()
  for (const { id, limit } of cards) {
    const start = limit && windowStart(limit.frequency, now)
    if (typeof start === 'number') starts.set(start, [...(starts.get(start) ?? []), id])
  }
  for (const [start, ids] of starts) {
    const counted = await countedCents(db, accountId, ids, start)
    for (const id of ids) spent.set(id, counted.get(id) ?? 0)
  }
  return spent
}
