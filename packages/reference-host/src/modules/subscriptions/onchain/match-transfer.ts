import type { EpochMs } from '@gatewright/kernel'
import type { TokenTransfer } from '../../../chain/reader.ts'

/** What a transfer must be to pay a pay-in. Addresses in lower case. */
export interface Payable {
  readonly chainId: number
  readonly token: string
  readonly payTo: string
  /** In the token's smallest unit. */
  readonly units: bigint
  /** The account's wallet; null when it has none, and then only an own receiver can be paid. */
  readonly payer: string | null
  /** Whether `payTo` serves this pay-in only, so that anybody may send. */
  readonly ownReceiver: boolean
  readonly createdAt: EpochMs
}

/** Why a transfer does not pay a pay-in: the first that holds, in this order. */
export type Mismatch =
  | 'wrong_chain'
  | 'wrong_token'
  | 'wrong_receiver'
  | 'wrong_amount'
  | 'wrong_sender'
  | 'mined_too_early'

/**
 * Why a transfer does not pay a pay-in; undefined when it does (contract section 9). The amount is exact: less and
 * more are both wrong. Whether the transfer has paid another pay-in already is for the store to say.
 *
 * A block stamped before the pay-in was created is too early, by one millisecond too. Blocks count whole seconds, so
 * a block mined in the second of the creation may have come before it: a transfer that was there already could be
 * somebody's payment for something else, and must not pay for what did not exist yet. A block stamped at the creation
 * counts.
 */
export function mismatch(payable: Payable, transfer: TokenTransfer): Mismatch | undefined {
  if (transfer.chainId !== payable.chainId) return 'wrong_chain'
  if (transfer.token !== payable.token) return 'wrong_token'
  if (transfer.to !== payable.payTo) return 'wrong_receiver'
  if (transfer.units !== payable.units) return 'wrong_amount'
  // Money that its owner sends to itself has come from nobody.
  if (transfer.from === transfer.to) return 'wrong_sender'
  if (!payable.ownReceiver && transfer.from !== payable.payer) return 'wrong_sender'
  if (transfer.minedAt < payable.createdAt) return 'mined_too_early'
  return undefined
}

/**
 * How many blocks hold a transfer, its own included, when `head` is the newest. 0 when `head` is before its block,
 * as a node that lags behind may say.
 */
export function confirmationsOf(transfer: TokenTransfer, head: number): number {
  return Math.max(0, head - transfer.blockNumber + 1)
}
