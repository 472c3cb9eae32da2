import type { EpochMs } from '@gatewright/kernel'
import type { TokenTransfer } from '../../../chain/reader.ts'

/** The facts that a transfer must match to pay a pay-in. Addresses are in lower case. */
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
 * Returns why a transfer does not pay a pay-in; undefined if it does. The amount must be exact. The store decides whether the
 * transfer has paid another pay-in already.
 *
 * A block time before the pay-in's creation is too early, even by one millisecond. Blocks count whole seconds, so a block of
 * the same second may be older than the pay-in, and its transfer a payment for something else. A block time equal to the
 * creation is accepted.
 */
export function mismatch(payable: Payable, transfer: TokenTransfer): Mismatch | undefined {
  if (transfer.chainId !== payable.chainId) return 'wrong_chain'
  if (transfer.token !== payable.token) return 'wrong_token'
  if (transfer.to !== payable.payTo) return 'wrong_receiver'
  if (transfer.units !== payable.units) return 'wrong_amount'
  // A transfer from an address to itself is not a payment.
  if (transfer.from === transfer.to) return 'wrong_sender'
  if (!payable.ownReceiver && transfer.from !== payable.payer) return 'wrong_sender'
  if (transfer.minedAt < payable.createdAt) return 'mined_too_early'
  return undefined
}

/**
 * Counts the confirmations of a transfer when `head` is the newest block; its own block is the first. 0 if `head` is before its
 * block, as a lagging node may report.
 */
export function confirmationsOf(transfer: TokenTransfer, head: number): number {
  return Math.max(0, head - transfer.blockNumber + 1)
}
