/**
 * The period over which amounts or calls add up: one call; a calendar day, week from Monday or month; the 24 hours, 7 or 30 days before
 * the call; or for ever.
 */
export type Window = 'operation' | 'day' | 'week' | 'month' | RollingWindow | 'total'

/** A window that ends with the call. It is counted in buckets, of an hour, 6 hours and a day: an amount counts until its whole bucket has left the window. */
export type RollingWindow = '24h' | '7d' | '30d'

/**
 * One entry of `limits[]`: all its operations together may move `maxCents` of money, or make `maxCount` calls, per window, or more than
 * `approveAboveCents` only with an approval. Exactly one of the three is present.
 */
interface PolicyLimit {
  /** Operation ids (`deposits.create`) or whole tags (`deposits.*`). */
  readonly operations: readonly string[]
  readonly window: Window
  /** Integer US cents. */
  readonly maxCents?: number
  /** Number of calls. Not with the window `operation`. */
  readonly maxCount?: number
  /** Integer US cents: a money operation that would move more, together with what the window has, waits for an approval. What was approved counts, too. */
  readonly approveAboveCents?: number
  /** An alert is given when so many percent of the limit are used, 1 to 100. Not with the window `operation`. */
  readonly alertAtPercent?: number
}

/**
 * A policy, in JSON and in storage. All members are optional; an empty object allows everything.
 * Every member must allow a call, and the order of members and entries never matters. Made only by `parsePolicy`.
 */
export interface Policy {
  /** The most US cents that one money operation may move. */
  readonly maxAuthAmountCents?: number
  /** The most US cents that money operations of any kind, withdrawals included, may move per day. */
  readonly dailySpendCapCents?: number
  /** The most US cents that withdrawals may move per day. */
  readonly dailyWithdrawalCapCents?: number
  /** A money operation that moves more US cents waits until the owner of the account has approved it. */
  readonly approveAboveCents?: number
  /** `false` blocks operations that reveal card secrets. */
  readonly allowCardSecrets?: boolean
  /** RFC 3339 instant. Calls before this instant are blocked; calls exactly at it are allowed. */
  readonly notBefore?: string
  /** RFC 3339 instant. Calls exactly at this instant and after it are blocked. */
  readonly notAfter?: string
  /** Operation ids or `tag.*`. Matching operations are blocked. */
  readonly denyOperations?: readonly string[]
  /** Operation ids or `tag.*`. If present, all other operations are blocked. */
  readonly allowOperations?: readonly string[]
  /**
   * Names of payees, such as `account:acc_1`. If present, money may go to these alone: a spend that names no payee is blocked. An
   * empty list allows none. Names are compared character by character.
   */
  readonly payees?: readonly string[]
  /** Names of payees. Money to any of these is blocked, and so is a spend that names no payee. */
  readonly denyPayees?: readonly string[]
  readonly limits?: readonly PolicyLimit[]
  /**
   * IANA name of the time zone in which the days, weeks and months of this policy begin, such as `Europe/Berlin`; default UTC. A cap in
   * another zone is another cap with a counter of its own: of two policies, both bind.
   */
  readonly timeZone?: string
  /**
   * An alert is given when so many percent of `dailySpendCapCents` or of `dailyWithdrawalCapCents` are used, 1 to 100. It needs one of
   * them. An alert blocks nothing.
   */
  readonly alertAtPercent?: number
  /** CIDR blocks or single addresses. If present, all other client addresses and unknown ones are blocked. */
  readonly allowedIps?: readonly string[]
}

/** A member of a policy that can block a call. The others say how these count, and who learns of it. */
export type PolicyRule = Exclude<keyof Policy, 'timeZone' | 'alertAtPercent'>

/** A stored policy with its id. Its counters belong to `counterOwner` of the id. */
export interface StoredPolicy {
  readonly id: string
  readonly policy: Policy
}
