import type { Clock, EpochMs } from '@gatewright/kernel'
import type { ChainReader, TokenTransfer } from '../../../chain/reader.ts'
import type { PayinReceiver } from '../../../chain/receivers.ts'
import { isOpen, type PayinStatus } from '../payins/states.ts'
import type { AuditStore } from './audit-store.ts'

/** Why a transfer to an address of ours pays no pay-in. */
export type UnmatchedReason =
  /** To an address that no pay-in was given. */
  | 'never_given_out'
  /** In another token than the pay-in asks for. */
  | 'wrong_token'
  /** In a block from before the pay-in was asked for. */
  | 'too_early'
  /** The pay-in was paid by another transfer, or is about to be. */
  | 'paid_already'
  /** More or less than the pay-in asks for. */
  | 'wrong_amount'
  /** The pay-in had ended. */
  | 'late'
  /** To an address that many share, by the wallet of an account: no open pay-in of it asks for this. */
  | 'no_payin'

/** Where a transfer to a deposit address went. */
export interface Recipient {
  /** Undefined: the address was given to nobody. */
  readonly payin:
    | {
        readonly id: string
        readonly accountId: string
        readonly status: string
        readonly token: string
        readonly units: bigint
        readonly createdAt: EpochMs
        readonly expiresAt: EpochMs
      }
    | undefined
}

/** Why a transfer does not pay the pay-in whose own address it was sent to. */
export function unmatchedReason(transfer: TokenTransfer, { payin }: Recipient): UnmatchedReason {
  if (!payin) return 'never_given_out'
  if (transfer.token !== payin.token) return 'wrong_token'
  if (transfer.minedAt < payin.createdAt) return 'too_early'
  if (payin.status === 'settled') return 'paid_already'
  if (transfer.minedAt >= payin.expiresAt) return 'late'
  if (transfer.units !== payin.units) return 'wrong_amount'
  return isOpen(payin.status as PayinStatus) ? 'paid_already' : 'late'
}

/** What an audit works on. */
export interface AuditServices {
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
