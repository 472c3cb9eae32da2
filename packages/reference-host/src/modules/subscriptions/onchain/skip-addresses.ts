import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import type { HostServices, Restore, RestoreFindings } from '@gatewright/host'
import type { PayinReceiver } from '../../../chain/receivers.ts'
import { branchOfXpub, type AddressBranch } from '../../../chain/xpub.ts'

/** An xpub with the chains on which it receives, and one of its tokens on each. */
export interface ReceivingXpub {
  readonly branch: AddressBranch
  readonly tokens: ReadonlyMap<number, string>
}

/** How many addresses one transaction skips at most. */
const BATCH = 500

/** Returns the xpubs of all receivers, each once, even if it is given as account key and as branch key. */
export function receivingXpubs(receivers: readonly PayinReceiver[]): readonly ReceivingXpub[] {
  const byId = new Map<string, { branch: AddressBranch; tokens: Map<number, string> }>()
  for (const { xpub, chainId, token } of receivers) {
    if (xpub === undefined) continue
    const branch = branchOfXpub(xpub)
    const found = byId.get(branch.id) ?? { branch, tokens: new Map<number, string>() }
    byId.set(branch.id, found)
    found.tokens.set(chainId, token)
  }
  return [...byId.values()]
}

/**
 * Skips the next `count` addresses of an xpub and returns the next index. None of them is ever allocated, and each is searched
 * for unmatched transfers on every chain of the xpub, since a lost database may have allocated it. Works in batches: if one
 * fails, the earlier ones stay skipped. Calls `note` with the number of skipped addresses after each.
 */
export async function skipAddresses(
  db: SqlClient,
  xpub: ReceivingXpub,
  count: number,
  note: (skipped: number) => void,
): Promise<number> {
  for (let skipped = 0; ; ) {
    const size = Math.min(BATCH, count - skipped)
    const next = await db.transaction(async tx => {
      const first = await lockedIndex(tx, xpub.branch.id)
      await skipUpTo(tx, xpub, first, first + size)
      return first + size
    })
    skipped += size
    if (skipped === count) return next
    note(skipped)
  }
}

/** How many addresses of each xpub a restore skips: more pay-ins than that in the lost time need `payins skip-addresses`. */
const SKIPPED_AT_RESTORE = 1000

/** Skips the next addresses of each xpub after a restore, once: the lost database may have given them to payers. */
export async function addressesRestored(
  { db, receivers, progress }: AddressServices,
  { repeated }: Restore,
): Promise<RestoreFindings> {
  const done: string[] = []
  for (const xpub of repeated ? [] : receivingXpubs(receivers)) {
    const { id } = xpub.branch
    const note = (skipped: number): void => progress(`xpub ${id}: ${skipped} addresses skipped`)
    const next = await skipAddresses(db, xpub, SKIPPED_AT_RESTORE, note)
    done.push(`xpub ${id}: ${SKIPPED_AT_RESTORE} addresses skipped, the next index is ${next}.`)
  }
  return { done, differences: [] }
}

interface AddressServices extends Pick<HostServices, 'db' | 'progress'> {
  readonly receivers: readonly PayinReceiver[]
}

/** Records the addresses from index `first` on as skipped, and makes `end` the next index. */
export async function skipUpTo(
  tx: SqlQueries,
  { branch, tokens }: ReceivingXpub,
  first: number,
  end: number,
): Promise<void> {
  const addresses = Array.from({ length: end - first }, (_, n) => branch.addressAt(first + n))
  const tuples = addresses.map((_, n) => `($1, $2, $3, 1, $${2 * n + 4}, $${2 * n + 5})`)
  const text = `insert into gw_deposit_addresses (chain_id, token, xpub, skipped, address, xpub_index)
    values ${tuples.join(', ')} on conflict do nothing`
  const places = addresses.flatMap((address, n) => [address, first + n])
  for (const [chainId, token] of tokens) await rows(tx, text, [chainId, token, branch.id, ...places])
  await rows(tx, 'update gw_deposit_sources set next_index = $1 where id = $2', [end, branch.id])
}

/** Returns the next index of an xpub, and locks it until the transaction ends. */
export async function lockedIndex(tx: SqlQueries, id: string): Promise<number> {
  const text = `insert into gw_deposit_sources as s (id, next_index) values ($1, 0)
    on conflict (id) do update set next_index = s.next_index returning next_index`
  const [row] = await rows(tx, text, [id])
  return toInteger(row?.['next_index'])
}
