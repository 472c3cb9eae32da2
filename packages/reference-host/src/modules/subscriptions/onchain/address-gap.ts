import { rows, toInteger, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import type { TokenTransfer } from '../../../chain/reader.ts'
import type { PayinReceiver } from '../../../chain/receivers.ts'
import { branchOfXpub, INDEX_LIMIT, type AddressBranch } from '../../../chain/xpub.ts'
import { OperatorWarning } from '../../../observability/warning.ts'

/**
 * The next addresses of each xpub, none of which this database has given out. A payment to one of them means
 * that the database was replaced by an older backup.
 */
export interface AddressGap {
  /** The next 20 addresses of each xpub of the chain. */
  addresses(): Promise<readonly string[]>
  /**
   * Moves an xpub's sequence past each address of the last `addresses()` that was paid and not given out
   * since. True when there was one: then the addresses after it must be read too.
   */
  skipPaid(transfers: readonly TokenTransfer[]): Promise<boolean>
}

/** Wallets look at this many unused addresses in a row (the gap limit). */
const AHEAD = 20

interface GapAddress {
  readonly branch: AddressBranch
  readonly index: number
}

/** Creates the gap addresses of one chain. */
export function addressGap(
  db: SqlClient,
  receivers: readonly PayinReceiver[],
  report: (error: unknown) => void,
): AddressGap {
  const byId = new Map(
    receivers.flatMap(({ xpub }) => {
      const branch = xpub === undefined ? undefined : branchOfXpub(xpub)
      return branch ? [[branch.id, branch]] : []
    }),
  )
  let ahead = new Map<string, GapAddress>()

  return {
    async addresses() {
      const known = new Map(
        [...ahead].map(([address, { branch, index }]) => [`${branch.id} ${index}`, address]),
      )
      const next = new Map<string, GapAddress>()
      for (const branch of byId.values()) {
        const text = 'select next_index from gw_deposit_sources where id = $1'
        const [row] = await rows(db, text, [branch.id])
        const from = row ? toInteger(row['next_index']) : 0
        for (let index = from; index < Math.min(from + AHEAD, INDEX_LIMIT); index += 1) {
          next.set(known.get(`${branch.id} ${index}`) ?? branch.addressAt(index), { branch, index })
        }
      }
      ahead = next
      return [...ahead.keys()]
    },
    async skipPaid(transfers) {
      let found = false
      for (const transfer of transfers) {
        const gapAddress = ahead.get(transfer.to)
        // Anyone can create transfers of zero units to any address.
        if (!gapAddress || transfer.units === 0n) continue
        if (!(await db.transaction(tx => skipPast(tx, gapAddress, transfer)))) continue
        found = true
        const message = `index ${gapAddress.index} of an xpub was paid (${transfer.txHash}) and never given out by this database: if a backup was restored, run "gatewright payins skip-addresses" now`
        report(new OperatorWarning(message))
      }
      return found
    },
  }
}

/**
 * Skips all addresses up to this one and records them as deposit addresses. False when this address was given
 * out meanwhile.
 */
async function skipPast(
  tx: SqlQueries,
  { branch, index }: GapAddress,
  { chainId, token }: TokenTransfer,
): Promise<boolean> {
  const first = await lockedIndex(tx, branch.id)
  if (index < first) return false
  const add = `insert into gw_deposit_addresses (chain_id, address, token, xpub, xpub_index)
    values ($1, $2, $3, $4, $5) on conflict do nothing`
  for (let skipped = first; skipped <= index; skipped += 1) {
    await rows(tx, add, [chainId, branch.addressAt(skipped), token, branch.id, skipped])
  }
  await rows(tx, 'update gw_deposit_sources set next_index = $1 where id = $2', [index + 1, branch.id])
  return true
}

/**
 * Moves the sequence of an xpub forward and returns the next index. Skipped addresses are never given out.
 */
export async function skipIndexes(tx: SqlQueries, id: string, count: number): Promise<number> {
  const first = await lockedIndex(tx, id)
  await rows(tx, 'update gw_deposit_sources set next_index = $1 where id = $2', [first + count, id])
  return first + count
}

/** The next index of an xpub, locked until the transaction ends. */
async function lockedIndex(tx: SqlQueries, id: string): Promise<number> {
  const text = `insert into gw_deposit_sources as s (id, next_index) values ($1, 0)
    on conflict (id) do update set next_index = s.next_index returning next_index`
  const [row] = await rows(tx, text, [id])
  return toInteger(row?.['next_index'])
}
