import type { EpochMs } from '@gatewright/kernel'

/** The right to run a write once. Plain data. */
export interface Claim {
  readonly storageKey: string
  /** Grows with every run of the key. A receiver that rejects a fence below the highest it has seen stops late runs. */
  readonly fence: number
  /** The stable id of the effect, equal for every run of the same request. */
  readonly effectId: string
  /** No other process decides about the run before this instant. */
  readonly leaseUntil: EpochMs
}
