import type { Clock, EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import { events, type Chore } from '@gatewright/host'
import { keptEvents } from '@gatewright/host/internal'
import { accountOfObject } from '../../product/provider-objects.ts'
import type { ProductMetrics } from '../../product/metrics.ts'

/** The number of rows that need the operator's attention, by kind. */
export type Attention = Readonly<Record<(typeof KINDS)[number] | 'provider_event', number>>

const KINDS = ['authorization', 'deposit', 'withdrawal'] as const

/** Counts the rows that need the operator's attention. Each table has an index of these rows. */
export async function countAttention(db: SqlQueries, now: EpochMs): Promise<Attention> {
  const counts = KINDS.map(async kind => {
    const text = `select count(*) as n from gw_${kind}s where attention is not null`
    return [kind, toInteger((await rows(db, text))[0]?.['n'])] as const
  })
  const kept = keptEvents.countOpen(db, now).then(count => ['provider_event', count] as const)
  return Object.fromEntries(await Promise.all([...counts, kept])) as Attention
}

/** The kinds whose rows only report money that was not moved. Withdrawals that need attention may also be open. */
export type ReportedKind = 'authorization' | 'deposit'

/** One report of a provider whose money was not moved. */
interface OpenReport {
  readonly at: EpochMs
  /** Why the money was not moved; for a deposit, the id of the payment. */
  readonly detail: string
  readonly amountCents: number
  readonly accountId: string
  /** The id of the authorization or deposit. */
  readonly id: string
}

/** The causes of events that need attention, as a list in SQL. */
const CAUSES = { authorization: "'excess', 'conflict'", deposit: "'payment_conflict'" } as const
/** How many reports about one row are returned at most when they are marked. */
const MAX_RESOLVED = 1000
/** The cause of the event that ends the attention of a row. */
const RESOLVED = 'resolved'

/** Lists the reports that nobody has marked as handled, newest first. */
export async function openReports(db: SqlQueries, kind: ReportedKind, limit: number): Promise<OpenReport[]> {
  return readReports(db, kind, 'r.attention is not null', [limit])
}

/** Reads the reports that were not marked yet, about rows that meet a condition. `values` begin with a limit. */
async function readReports(
  db: SqlQueries,
  kind: ReportedKind,
  condition: string,
  values: readonly [limit: number, ...others: string[]],
): Promise<OpenReport[]> {
  const text = `select e.at, coalesce(e.detail, r.attention, '') as detail, e.amount_cents, e.account_id, r.id
    from gw_${kind}s r join gw_events e
      on e.account_id = r.account_id and e.subject_kind = $1 and e.subject_id = r.id
    where ${condition} and e.cause in (${CAUSES[kind]}) and e.number > (
      select coalesce(max(number), 0) from gw_events
      where account_id = r.account_id and subject_kind = $1 and subject_id = r.id and cause = $2)
    order by e.position desc limit $3`
  return (await rows(db, text, [kind, RESOLVED, ...values])).map(row => ({
    at: toInteger(row['at']),
    detail: toText(row['detail']),
    amountCents: toInteger(row['amount_cents']),
    accountId: toText(row['account_id']),
    id: toText(row['id']),
  }))
}

/**
 * Marks all reports about a row as handled, and returns them. `reference` documents how they were handled; the account can see
 * it. Undefined: the row needs no attention. Of simultaneous calls one takes effect.
 */
export async function resolveAttention(
  tx: SqlQueries,
  { kind, id, reference }: { readonly kind: ReportedKind; readonly id: string; readonly reference: string },
  now: EpochMs,
): Promise<readonly OpenReport[] | undefined> {
  const accountId = await accountOfObject(tx, kind, id)
  if (accountId === undefined) return undefined
  const text = `update gw_${kind}s set attention = null where account_id = $1 and id = $2 and attention is not null
    returning status`
  const [row] = await rows(tx, text, [accountId, id])
  if (!row) return undefined
  // The update has locked the row, so a report that comes now is not among these and asks for attention again.
  const reports = await readReports(tx, kind, 'r.account_id = $4 and r.id = $5', [
    MAX_RESOLVED,
    accountId,
    id,
  ])
  const status = toText(row['status'])
  const event = { accountId, subject: { kind, id }, cause: RESOLVED, keep: true }
  await events.record(tx, { ...event, from: status, to: status, detail: reference }, now)
  return reports
}

/** Reports to the metrics how many rows a person must look at. */
export function attentionChores({
  db,
  clock,
  productMetrics,
}: {
  readonly db: SqlQueries
  readonly clock: Clock
  readonly productMetrics: ProductMetrics
}): readonly Chore[] {
  return [
    {
      name: 'count rows with attention',
      everyMs: 60_000,
      atStart: true,
      async run() {
        for (const [kind, count] of Object.entries(await countAttention(db, clock.now())))
          productMetrics.attention(kind, count)
      },
    },
  ]
}
