import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { events } from '@gatewright/host'
import type { NetworkResponse } from './response-in-time.ts'
import { authorizationTable, type Authorization } from './store.ts'

/** How many conflicts of one authorization its history keeps. Further ones are also declined, counted and logged. */
const MAX_CONFLICTS = 20

/**
 * The terms that a card network requests under an id: an amount, its currency, and the ids that it names. A repeat must request
 * the same terms.
 */
type RequestedTerms = Readonly<Record<string, string | number>> & {
  readonly amountCents: number
  readonly currency: string
}

/** A request that repeats an id with other terms. */
export interface Conflict {
  /** The id that was repeated: that of the authorization, or of its increment. */
  readonly id: string
  /** The members that differ, with both values, such as `amountCents 700 instead of 600`. */
  readonly differences: string
  /** The amount that the repeat requests, in US cents; 0 for another currency. */
  readonly amountCents: number
}

/** Compares the terms of a repeated id with those that were decided. Undefined: they are the same. */
export function conflictOf(
  id: string,
  decided: RequestedTerms,
  repeated: RequestedTerms,
): Conflict | undefined {
  const differences = Object.keys(decided)
    .filter(name => decided[name] !== repeated[name])
    .map(name => `${name} ${repeated[name]} instead of ${decided[name]}`)
    .join(', ')
  if (differences === '') return undefined
  return { id, differences, amountCents: repeated.currency === 'USD' ? repeated.amountCents : 0 }
}

/**
 * Declines a conflict: moves no money, records the conflict in the history of the authorization, marks the row for the
 * operator, and reports it. A conflict is recorded only once. Lock the authorization before.
 */
export async function declineConflict(
  tx: SqlQueries,
  row: Authorization,
  { id, differences, amountCents }: Conflict,
  { report, now }: { readonly report: (error: unknown) => void; readonly now: EpochMs },
): Promise<NetworkResponse> {
  const { accountId, issuer, status } = row
  const subject = { kind: 'authorization', id: row.id }
  const detail = `request_conflict: ${differences}`
  const kept = (await events.history(tx, accountId, subject)).filter(({ cause }) => cause === 'conflict')
  if (kept.length < MAX_CONFLICTS && !kept.some(each => each.detail === detail)) {
    await authorizationTable.update(tx, row, { attention: 'request_conflict' })
    await events.record(
      tx,
      { accountId, subject, from: status, to: status, cause: 'conflict', amountCents, detail, keep: true },
      now,
    )
  }
  report(new Error(`${issuer} repeated the id of ${id} with ${differences}; it was declined`))
  return {
    outcome: 'conflict',
    decision: { approved: false, authorizationId: row.id, declineReason: 'conflict' },
  }
}
