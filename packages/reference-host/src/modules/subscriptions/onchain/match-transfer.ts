import type { EpochMs } from '@gatewright/kernel'
import type { TokenTransfer } from '../../../chain/reader.ts'

/** What a transfer must match to pay a pay-in. Addresses are in lower case. */
export interface Payable {
  readonly chainId: number
  readonly token: string
  readonly payTo: string
  /** In the token's smallest unit. */
  readonly units: bigint
  /** The account's wallet. Null when it has none: then only a deposit address can be paid. */
  readonly payer: string | null
  /** Whether `payTo` serves this pay-in only, so that anybody may send. */
  readonly ownReceiver: boolean
  readonly createdAt: EpochMs
}

/** Why a transfer does not match a pay-in. The first reason that applies, in this order. */
export type Mismatch =
  | 'wrong_chain'
  | 'wrong_token'
  | 'wrong_receiver'
  | 'wrong_amount'
  | 'wrong_sender'
  | 'mined_too_early'

/**
 * Checks whether a transfer pays a pay-in, and returns the reason when it does not. The
 * amount must be exact. The store decides whether the transfer has paid another pay-in already.
 *
 * A block time before the pay-in's creation is too early, even by one millisecond. Blocks count whole
 * seconds, so a block from the second of the creation may be older than the pay-in: its transfer could be a
 * payment for something else. A block time equal to the creation counts.
 */
export function mismatch(payable: Payable, transfer: TokenTransfer): Mismatch | undefined {
  if (transfer.chainId !== payable.chainId) return 'wrong_chain'
  if (transfer.token !== payable.token) return 'wrong_token'
  if (transfer.to !== payable.payTo) return 'wrong_receiver'
  if (transfer.units !== payable.units) return 'wrong_amount'
  // A transfer from an address to itself is no payment.
  if (transfer.from === transfer.to) return 'wrong_sender'
  if (!payable.ownReceiver && transfer.from !== payable.payer) return 'wrong_sender'
  if (transfer.minedAt < payable.createdAt) return 'mined_too_early'
  return undefined
}

/**
 * How many blocks, the transfer's own included, hold a transfer when `head` is the newest block. 0 when
 * `head` is before its block, as a lagging node may report.
 */
export function confirmationsOf(transfer: TokenTransfer, head: number): number {
  return Math.max(0, head - transfer.blockNumber + 1)
}
