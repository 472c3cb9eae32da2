import { Fault } from '@gatewright/kernel'
import { rows, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import type { Sealer } from '@gatewright/host/internal'
import type { SealedColumn } from '../../product/sealed-columns.ts'

/** The result of resealing one column. */
export interface RewrappedColumn {
  /** Table and column, such as `users.profile`. */
  readonly column: string
  /** How many texts were encrypted again, with the first key of the ring. */
  readonly resealed: number
  /** How many texts were already encrypted with the first key. */
  readonly current: number
  /** The texts that no key of the ring decrypts, grouped by reason. They are unchanged. */
  readonly unreadable: readonly Unreadable[]
}

interface Unreadable {
  readonly reason: string
  readonly count: number
  /** The owners of the first 10. */
  readonly accounts: readonly string[]
}

const BATCH = 500
const MAX_NAMED_ACCOUNTS = 10

/**
 * Encrypts the texts of a column again with the first key of the ring, in batches ordered by owner. Each row is updated by a
 * separate statement, and only if it still has the text that was read. So no lock is held, and no simultaneous change or
 * erasure by a running host is undone. It can be repeated. `note` is called after each batch with the number of rows read so
 * far.
 */
export async function rewrapColumn(
  db: SqlQueries,
  sealer: Sealer,
  { table, column, purpose, owner = 'account_id' }: SealedColumn,
  note: (read: number) => void,
): Promise<RewrappedColumn> {
  const select = `select ${owner} as owner, ${column} as sealed from ${table}
    where ${column} is not null and ${owner} > $1 order by ${owner} limit ${BATCH}`
  const update = `update ${table} set ${column} = $1 where ${owner} = $2 and ${column} = $3 returning ${owner}`
  const unreadable = new Map<string, { count: number; accounts: string[] }>()
  let [resealed, current, read, last] = [0, 0, 0, '']

  const rewrap = async (row: SqlRow): Promise<void> => {
    const ownerId = toText(row['owner'])
    const sealed = toText(row['sealed'])
    if (sealer.isCurrent(sealed)) {
      current++
      return
    }
    const opened = openOrReason(() => sealer.open(purpose, ownerId, sealed))
    if ('reason' in opened) {
      const entry = unreadable.get(opened.reason) ?? { count: 0, accounts: [] }
      entry.count++
      if (entry.accounts.length < MAX_NAMED_ACCOUNTS) entry.accounts.push(ownerId)
      unreadable.set(opened.reason, entry)
      return
    }
    const text = sealer.seal(purpose, ownerId, opened.text)
    resealed += (await rows(db, update, [text, ownerId, sealed])).length
  }

  for (;;) {
    const batch = await rows(db, select, [last])
    for (const row of batch) await rewrap(row)
    read += batch.length
    if (batch.length > 0) note(read)
    if (batch.length < BATCH) break
    last = toText(batch.at(-1)?.['owner'])
  }
  const failures = [...unreadable].map(([reason, entry]) => ({ reason, ...entry }))
  return { column: `${table.replace(/^gw_/, '')}.${column}`, resealed, current, unreadable: failures }
}

function openOrReason(open: () => string): { readonly text: string } | { readonly reason: string } {
  try {
    return { text: open() }
  } catch (error) {
    if (error instanceof Fault) return { reason: error.message }
    throw error
  }
}
