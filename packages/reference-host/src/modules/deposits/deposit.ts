import type { EpochMs } from '@gatewright/kernel'
import type { DepositStatus, NewDeposit, OpenDeposit } from '../../providers/deposits.ts'

/** A deposit: an address of the provider where an account pays to. */
export interface Deposit extends NewDeposit, OpenDeposit {
  readonly id: string
  readonly position: number
  readonly accountId: string
  readonly provider: string
  readonly status: DepositStatus
  readonly createdAt: EpochMs
  readonly updatedAt: EpochMs
}
