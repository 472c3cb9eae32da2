import type { Clock } from '@gatewright/kernel'
import type { ChainReader, TokenTransfer } from '../../../chain/reader.ts'
import type { PayinReceiver } from '../../../chain/receivers.ts'
import { unmatchedReason, type UnmatchedReason } from './unmatched-reason.ts'
import type { UnmatchedTransferStore } from './unmatched-transfer-store.ts'

/** What the search for unmatched transfers on one chain needs. */
interface SearchServices {
  readonly store: UnmatchedTransferStore
  readonly clock: Clock
  readonly reader: ChainReader
  /** The configured receivers of the reader's chain. */
  readonly receivers: readonly PayinReceiver[]
  /** Finds the account whose wallet has this address. */
  readonly accountOf: (address: string) => Promise<string | undefined>
  /** Called with the reason of each transfer that this host recorded first. */
  readonly count: (reason: UnmatchedReason) => void
}

/** Pause between two searches of a chain, over all hosts, in ms (5 minutes). */
const EVERY_MS = 300_000
/** Most blocks and addresses in one call to the node. */
const BLOCKS = 2000
const ADDRESSES = 500

/**
 * Records transfers that match no pay-in: those to every deposit address that was ever listed or given out, and those
 * from accounts' wallets to shared addresses. Reads each block once, after the watcher has applied it and considers it
 * final, so that no later reorganisation makes a record wrong. Transfers of zero units are left out, since anyone can
 * create them in anyone's name.
 */
export function recordUnmatchedTransfers(services: SearchServices): (signal: AbortSignal) => Promise<void> {
  const { store, clock, reader, receivers, accountOf, count } = services
  const { chainId } = reader
  const tokens = [...new Set(receivers.map(({ token }) => token))]
  const shared = [...new Set(receivers.map(({ receiver }) => receiver))]

  async function record(transfer: TokenTransfer): Promise<void> {
    if (transfer.units === 0n || (await store.isUsed(transfer))) return
    const deposit = await store.recipient(chainId, transfer.to)
    const accountId = deposit ? deposit.payin?.accountId : await accountOf(transfer.from)
    // Without an account, the sender to a shared address could be anyone.
    if (!deposit && accountId === undefined) return
    const reason = deposit ? unmatchedReason(transfer, deposit) : 'no_payin'
    const found = { reason, accountId: accountId ?? null, payinId: deposit?.payin?.id ?? null }
    if (await store.add(transfer, found, clock.now())) count(reason)
  }

  async function searchBlocks(fromBlock: number, toBlock: number): Promise<void> {
    for (let addresses: readonly string[] = shared, after = ''; addresses.length > 0; ) {
      const found = await reader.transfers({ tokens, receivers: addresses, fromBlock, toBlock })
      for (const transfer of found) await record(transfer)
      addresses = await store.addresses(chainId, after, ADDRESSES)
      after = addresses.at(-1) ?? ''
    }
  }

  return async signal => {
    const now = clock.now()
    const range = await store.claim(chainId, now, now - EVERY_MS)
    if (!range) return
    for (let from = range.fromBlock; from <= range.toBlock && !signal.aborted; from += BLOCKS) {
      const to = Math.min(range.toBlock, from + BLOCKS - 1)
      await searchBlocks(from, to)
      await store.advance(chainId, to + 1)
    }
  }
}
