/** How long an amount or a count adds up: one call, a calendar day or month (UTC), or for ever. */
export type Window = 'operation' | 'day' | 'month' | 'total'

/** One entry of `limits[]`: at most `maxCents` of money or `maxCount` calls per window, over the operations together. */
export interface PolicyLimit {
  /** Operation ids (`deposits.create`) or whole tags (`deposits.*`). */
  readonly operations: readonly string[]
  readonly window: Window
  /** Integer US cents. Exactly one of `maxCents` and `maxCount` is present. */
  readonly maxCents?: number
  /** Calls. Not with the window `operation`. */
  readonly maxCount?: number
}

/**
 * The policy object as it travels and is stored. All members are optional; an empty object allows everything.
 * Deny wins and order never matters. Made only by `parsePolicy`.
 */
export interface Policy {
  /** Most US cents one money operation may move. */
  readonly maxAuthAmountCents?: number
  /** Most US cents per UTC day that money operations of any kind may move, withdrawals included. */
  readonly dailySpendCapCents?: number
  /** Most US cents per UTC day that withdrawals may move. */
  readonly dailyWithdrawalCapCents?: number
  /** `false` blocks operations that reveal card secrets. */
  readonly allowCardSecrets?: boolean
  /** RFC 3339 instant. Everything is blocked before it; allowed exactly at it. */
  readonly notBefore?: string
  /** RFC 3339 instant. Everything is blocked exactly at it and after it. */
  readonly notAfter?: string
  /** Operation ids or `tag.*`. A match blocks. */
  readonly denyOperations?: readonly string[]
  /** Operation ids or `tag.*`. When present, everything else is blocked. */
  readonly allowOperations?: readonly string[]
  readonly limits?: readonly PolicyLimit[]
  /** CIDR blocks or single addresses. When present, other client addresses, and unknown ones, are blocked. */
  readonly allowedIps?: readonly string[]
}

/** A stored policy document with the id its counters belong to. */
export interface StoredPolicy {
  readonly id: string
  readonly policy: Policy
}
