import type { EpochMs } from '@gatewright/kernel'
import type { TokenTransfer } from '../../chain/reader.ts'

export interface Payable {
  readonly chainId: number
  readonly token: string
  readonly payTo: string
  readonly units: bigint
  readonly payer: string | null
  readonly ownReceiver: boolean
  readonly createdAt: EpochMs
}
export type Mismatch =
  | 'wrong_chain'
  | 'wrong_token'
  | 'wrong_receiver'
  | 'wrong_amount'
  | 'wrong_sender'
  | 'mined_too_early'
export function mismatch(payable: Payable, transfer: TokenTransfer): Mismatch | undefined {
  if (transfer.chainId !== payable.chainId) return 'wrong_chain'
  if (transfer.token !== payable.token) return 'wrong_token'
  if (transfer.to !== payable.payTo) return 'wrong_receiver'
  if (transfer.units !== payable.units) return 'wrong_amount'
  if (!payable.ownReceiver && transfer.from !== payable.payer) return 'wrong_sender'
  if (transfer.minedAt < payable.createdAt) return 'mined_too_early'
  return undefined
}
export function confirmationsOf({ blockNumber }: TokenTransfer, head: number): number {
  return Math.max(0, head - blockNumber + 1)
}
