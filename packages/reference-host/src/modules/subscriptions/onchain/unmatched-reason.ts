import type { EpochMs } from '@gatewright/kernel'
import type { TokenTransfer } from '../../../chain/reader.ts'
import { isOpen, type PayinStatus } from '../payins/states.ts'

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
