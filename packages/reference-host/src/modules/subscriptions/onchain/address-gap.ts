import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { OperatorWarning } from '@gatewright/host/internal'
import type { TokenTransfer } from '../../../chain/reader.ts'
import { INDEX_LIMIT } from '../../../chain/xpub.ts'
import { lockedIndex, skipUpTo, type ReceivingXpub } from './skip-addresses.ts'

/**
 * Watches the next addresses of each xpub, which this database has never allocated. A payment to one of them means that the
 * database was restored from an older backup.
 */
export interface AddressGap {
  /** The next 20 addresses of each xpub of the chain. */
  addresses(): Promise<readonly string[]>
  /**
   * Moves an xpub's next index past each address of the last `addresses()` that was paid and was not allocated since. True if
   * there was one: then the addresses after it must be read, too.
   */
  skipPaid(transfers: readonly TokenTransfer[]): Promise<boolean>
}

/** How many unused addresses in a row wallets watch (the gap limit). */
const AHEAD = 20

interface GapAddress {
  readonly xpub: ReceivingXpub
  readonly index: number
}

/** Creates the watcher of the next addresses on one chain. `xpubs` are those that receive on it. */
export function addressGap(
  db: SqlClient,
  xpubs: readonly ReceivingXpub[],
  report: (error: unknown) => void,
): AddressGap {
  let ahead = new Map<string, GapAddress>()

  return {
    async addresses() {
      const known = new Map(
        [...ahead].map(([address, { xpub, index }]) => [`${xpub.branch.id} ${index}`, address]),
      )
      const next = new Map<string, GapAddress>()
      for (const xpub of xpubs) {
        const { branch } = xpub
        const text = 'select next_index from gw_deposit_sources where id = $1'
        const [row] = await rows(db, text, [branch.id])
        const from = row ? toInteger(row['next_index']) : 0
        for (let index = from; index < Math.min(from + AHEAD, INDEX_LIMIT); index += 1) {
          next.set(known.get(`${branch.id} ${index}`) ?? branch.addressAt(index), { xpub, index })
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
        if (!(await db.transaction(tx => skipPast(tx, gapAddress)))) continue
        found = true
        const message = `index ${gapAddress.index} of an xpub was paid (${transfer.txHash}) and never given out by this database: if a backup was restored, run "npx gatewright payins skip-addresses" now`
        report(new OperatorWarning(message))
      }
      return found
    },
  }
}

/** Skips all addresses up to this one. False if it was allocated or skipped meanwhile. */
async function skipPast(tx: SqlQueries, { xpub, index }: GapAddress): Promise<boolean> {
  const first = await lockedIndex(tx, xpub.branch.id)
  if (index < first) return false
  await skipUpTo(tx, xpub, first, index + 1)
  return true
}
