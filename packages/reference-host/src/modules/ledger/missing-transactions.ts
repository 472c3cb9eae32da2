import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { TransactionEntry } from '@gatewright/host'
import { ledgerAccounts } from '@gatewright/host/internal'

/** One side of a transfer: what it moved into or out of the balance of a user. */
export interface BalanceLeg {
  readonly accountId: string
  readonly transferId: string
  /** The ledger account on the other side. */
  readonly counterpart: string
  /** Below zero if the money left the balance. */
  readonly amountCents: number
  readonly cause: string
  readonly createdAt: EpochMs
}

/** The business object whose transaction shows a transfer to the account. */
type Source = TransactionEntry['source']

/** How a product shows transfers to accounts. */
export interface ShownTransfers {
  /** Returns the business object of a transfer; undefined if nothing tells. */
  sourceOf(db: SqlQueries, leg: BalanceLeg): Promise<Source | undefined>
  /** Makes the transaction of a business object from what is stored of it; undefined if too little is. */
  entryOf(db: SqlQueries, leg: BalanceLeg, source: Source): Promise<TransactionEntry | undefined>
}

/** A transaction that an account lacks. */
export interface MissingTransaction {
  readonly entry: TransactionEntry
  /** When the first transfer was made that it shows. */
  readonly createdAt: EpochMs
}

/** What the transfers of a balance show. */
export interface TransactionGaps {
  readonly missing: readonly MissingTransaction[]
  /** Transfers whose transaction cannot be made from what is stored. */
  readonly unknown: readonly BalanceLeg[]
}

/** How many transfers are read at a time. */
const PAGE = 1000

const LEGS = `select transfer_id, side, counterpart, amount_cents, cause, created_at from gw_ledger_legs
  where account_id = $1 and ledger_account = $2 and (transfer_id, side) > ($3, $4) order by transfer_id, side limit ${PAGE}`

/**
 * Finds the transfers of a user's balance that no transaction shows. A transfer and its transaction are written together, so none that is
 * made meanwhile is found. A transaction with a wrong amount is not found either. Faults: `ERR_STORE_*`.
 */
export async function findTransactionGaps(
  db: SqlQueries,
  accountId: string,
  shown: ShownTransfers,
): Promise<TransactionGaps> {
  const missing = new Map<string, MissingTransaction>()
  const unknown: BalanceLeg[] = []
  for (let after: readonly [string, string] = ['', '']; ; ) {
    const page = await rows(db, LEGS, [accountId, ledgerAccounts.user(accountId), ...after])
    const legs = page.map(row => ({
      accountId,
      transferId: toText(row['transfer_id']),
      counterpart: toText(row['counterpart']),
      amountCents: toInteger(row['amount_cents']),
      cause: toText(row['cause']),
      createdAt: toInteger(row['created_at']),
    }))
    const found = await withSources(db, legs, shown)
    const present = await presentSources(
      db,
      accountId,
      found.flatMap(({ source }) => source ?? []),
    )
    for (const { leg, source } of found) {
      const name = source && nameOf(source)
      if (name !== undefined && present.has(name)) continue
      const known = name === undefined ? undefined : missing.get(name)
      const entry = known?.entry ?? (source && (await shown.entryOf(db, leg, source)))
      if (entry === undefined) unknown.push(leg)
      else
        missing.set(name as string, {
          entry,
          createdAt: Math.min(leg.createdAt, known?.createdAt ?? leg.createdAt),
        })
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return { missing: [...missing.values()], unknown }
    after = [toText(last['transfer_id']), toText(last['side'])]
  }
}

interface LegWithSource {
  readonly leg: BalanceLeg
  readonly source: Source | undefined
}

async function withSources(
  db: SqlQueries,
  legs: readonly BalanceLeg[],
  shown: ShownTransfers,
): Promise<readonly LegWithSource[]> {
  const found: LegWithSource[] = []
  for (const leg of legs) found.push({ leg, source: await shown.sourceOf(db, leg) })
  return found
}

const nameOf = ({ kind, id, part = '' }: Source): string => JSON.stringify([kind, id, part])

/** Returns those of the business objects that have a transaction, by `nameOf`. */
async function presentSources(
  db: SqlQueries,
  accountId: string,
  sources: readonly Source[],
): Promise<ReadonlySet<string>> {
  if (sources.length === 0) return new Set()
  const kinds = [...new Set(sources.map(({ kind }) => kind))]
  const ids = [...new Set(sources.map(({ id }) => id))]
  const places = (count: number, after: number): string =>
    Array.from({ length: count }, (_, n) => `$${after + n + 1}`).join(', ')
  const text = `select source_kind, source_id, part from gw_transactions where account_id = $1
    and source_kind in (${places(kinds.length, 1)}) and source_id in (${places(ids.length, 1 + kinds.length)})`
  const found = await rows(db, text, [accountId, ...kinds, ...ids])
  return new Set(
    found.map(row =>
      nameOf({
        kind: toText(row['source_kind']),
        id: toText(row['source_id']),
        part: toText(row['part']),
      }),
    ),
  )
}
