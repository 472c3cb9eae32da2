import type { Clock } from '@gatewright/kernel'
import type { LogReader } from '../../../chain/log-reader.ts'
import type { TokenTransfer } from '../../../chain/reader.ts'
import type { PayinReceiver } from '../../../chain/receivers.ts'
import { unmatchedReason, type UnmatchedReason } from './unmatched-reason.ts'
import type { UnmatchedTransferStore } from './unmatched-transfer-store.ts'

/** The services of the search for unmatched transfers on one chain. */
interface SearchServices {
  readonly store: UnmatchedTransferStore
  readonly clock: Clock
  readonly chainId: number
  /** Reads the chain's logs, shared with the watcher. */
  readonly logs: LogReader
  /** The configured receivers of the chain: at least one, since each chain comes from a receiver. */
  readonly receivers: readonly PayinReceiver[]
  /** Finds the account whose wallet has this address. */
  readonly accountOf: (address: string) => Promise<string | undefined>
  /** Called with the reason of each transfer that this host has newly recorded. */
  readonly count: (reason: UnmatchedReason) => void
}

/** Pause between two searches of a chain, over all hosts, in ms (5 minutes). */
const EVERY_MS = 300_000
/** Maximum number of deposit addresses in one call to the node. */
const ADDRESSES = 500

/**
 * Makes the job that records transfers that match no pay-in: those to every deposit address in the database, and those from
 * accounts' wallets to shared addresses. A run does nothing if any host searched this chain in the last five minutes. Each
 * block is read once, after the watcher has applied it and considers it final, so that no later reorganisation makes a record
 * wrong. Transfers of zero units are left out, since anyone can create them with any sender.
 */
export function unmatchedTransferSearch(services: SearchServices): (signal: AbortSignal) => Promise<void> {
  const { store, clock, chainId, logs, receivers, accountOf, count } = services
  const tokens = [...new Set(receivers.map(({ token }) => token))]
  const sharedAddresses = [...new Set(receivers.map(({ receiver }) => receiver))]

  async function record(transfer: TokenTransfer): Promise<void> {
    if (transfer.units === 0n || (await store.isMatched(transfer))) return
    const depositAddress = await store.depositAddress(chainId, transfer.to)
    const accountId = depositAddress ? depositAddress.payin?.accountId : await accountOf(transfer.from)
    // A transfer to a shared address is recorded only if its sender is an account's wallet.
    if (!depositAddress && accountId === undefined) return
    const reason = depositAddress ? unmatchedReason(transfer, depositAddress) : 'no_payin'
    const finding = { reason, accountId: accountId ?? null, payinId: depositAddress?.payin?.id ?? null }
    if (await store.add(transfer, finding, clock.now())) count(reason)
  }

  async function recordTransfersTo(
    addresses: readonly string[],
    fromBlock: number,
    toBlock: number,
  ): Promise<void> {
    for await (const { transfers } of logs.steps({ tokens, receivers: addresses, fromBlock, toBlock }))
      for (const transfer of transfers) await record(transfer)
  }

  async function searchBlocks(fromBlock: number, toBlock: number): Promise<void> {
    await recordTransfersTo(sharedAddresses, fromBlock, toBlock)
    let page = await store.addresses(chainId, '', ADDRESSES)
    while (page.length > 0) {
      await recordTransfersTo(page, fromBlock, toBlock)
      page = await store.addresses(chainId, page.at(-1) as string, ADDRESSES)
    }
  }

  return async signal => {
    const now = clock.now()
    const lastSearchBefore = now - EVERY_MS
    const range = await store.claim(chainId, now, lastSearchBefore)
    if (!range) return
    for (let from = range.fromBlock; from <= range.toBlock && !signal.aborted; ) {
      const to = Math.min(range.toBlock, from + logs.span() - 1)
      await searchBlocks(from, to)
      await store.advance(chainId, to + 1)
      from = to + 1
    }
  }
}
