import type { Clock } from '@gatewright/kernel'
import type { ChainReader, TokenTransfer } from '../../../chain/reader.ts'
import type { PayinReceiver } from '../../../chain/receivers.ts'
import type { AuditStore } from './audit-store.ts'
import { unmatchedReason, type UnmatchedReason } from './unmatched-reason.ts'

/** What an audit works on. */
interface AuditServices {
  readonly store: AuditStore
  readonly clock: Clock
  readonly reader: ChainReader
  /** The configured receivers of the reader's chain. */
  readonly receivers: readonly PayinReceiver[]
  /** The account whose wallet an address is. */
  readonly accountOf: (address: string) => Promise<string | undefined>
  /** Takes one reason per transfer that this host was the first to record. */
  readonly count: (reason: UnmatchedReason) => void
}

/** How often a chain is audited, by one host of all, in ms (5 minutes). */
const EVERY_MS = 300_000
/** Blocks and addresses of one question to the node. */
const BLOCKS = 2000
const ADDRESSES = 500

/**
 * Looks for transfers that pay nobody: to every address that was ever given out, however long ago, and from wallets of
 * accounts to the shared addresses. Only blocks that the watcher takes for final and has applied are read, each once, so what
 * is recorded is certain. Transfers of nothing are left out: anybody can make them in anybody's name.
 */
export function chainAudit(services: AuditServices): (signal: AbortSignal) => Promise<void> {
  const { store, clock, reader, receivers, accountOf, count } = services
  const { chainId } = reader
  const tokens = [...new Set(receivers.map(({ token }) => token))]
  const shared = [...new Set(receivers.map(({ receiver }) => receiver))]

  async function record(transfer: TokenTransfer): Promise<void> {
    if (transfer.units === 0n || (await store.isUsed(transfer))) return
    const own = await store.recipient(chainId, transfer.to)
    const accountId = own ? own.payin?.accountId : await accountOf(transfer.from)
    // Who sends to a shared address and has no account could be anybody.
    if (!own && accountId === undefined) return
    const reason = own ? unmatchedReason(transfer, own) : 'no_payin'
    const found = { reason, accountId: accountId ?? null, payinId: own?.payin?.id ?? null }
    if (await store.add(transfer, found, clock.now())) count(reason)
  }

  async function auditBlocks(fromBlock: number, toBlock: number): Promise<void> {
    for (let some: readonly string[] = shared, after = ''; some.length > 0; ) {
      const found = await reader.transfers({ tokens, receivers: some, fromBlock, toBlock })
      for (const transfer of found) await record(transfer)
      some = await store.addresses(chainId, after, ADDRESSES)
      after = some.at(-1) ?? ''
    }
  }

  return async signal => {
    const now = clock.now()
    const range = await store.claim(chainId, now, now - EVERY_MS)
    if (!range) return
    for (let from = range.fromBlock; from <= range.toBlock && !signal.aborted; from += BLOCKS) {
      const to = Math.min(range.toBlock, from + BLOCKS - 1)
      await auditBlocks(from, to)
      await store.advance(chainId, to + 1)
    }
  }
}
