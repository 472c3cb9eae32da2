import type { EpochMs } from '@gatewright/kernel'
import type { TokenTransfer } from '../../../chain/reader.ts'
import { isOpen, type PayinStatus } from '../payins/states.ts'

/** Why a transfer to one of the host's addresses matches no pay-in. */
export type UnmatchedReason =
  /** To an address that was never allocated to a pay-in. */
  | 'never_given_out'
  /** In another token than the pay-in requires. */
  | 'wrong_token'
  /** In a block from before the pay-in's creation. */
  | 'too_early'
  /** The pay-in was paid by another transfer, or one is confirming. */
  | 'paid_already'
  /** Not exactly the amount of the pay-in. */
  | 'wrong_amount'
  /** After the pay-in's deadline, or after it was closed. */
  | 'late'
  /** From an account's wallet to a shared address, without a matching open pay-in. */
  | 'no_payin'

/** The deposit address that a transfer was sent to. */
export interface DepositAddress {
  /** The pay-in to which this address was allocated; undefined if it was allocated to no pay-in. */
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

/** Explains why a transfer to a pay-in's own address does not pay it. */
export function unmatchedReason(transfer: TokenTransfer, { payin }: DepositAddress): UnmatchedReason {
  if (!payin) return 'never_given_out'
  if (transfer.token !== payin.token) return 'wrong_token'
  if (transfer.minedAt < payin.createdAt) return 'too_early'
  if (payin.status === 'settled') return 'paid_already'
  if (transfer.minedAt >= payin.expiresAt) return 'late'
  if (transfer.units !== payin.units) return 'wrong_amount'
  return isOpen(payin.status as PayinStatus) ? 'paid_already' : 'late'
}
