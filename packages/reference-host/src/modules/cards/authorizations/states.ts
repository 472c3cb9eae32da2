/** The status of a card authorization. `declined` and `reversed` are final; a cleared one can still be refunded. */
export type AuthorizationStatus = 'authorized' | 'declined' | 'cleared' | 'reversed'

interface Move {
  /** Null: before its first status. */
  readonly from: AuthorizationStatus | null
  readonly to: AuthorizationStatus
}

/** The moves between statuses. Nothing else changes a status, and each move is recorded. */
export const AUTHORIZATION_MOVES = {
  /** The amount is held for the merchant. */
  authorize: { from: null, to: 'authorized' },
  /** The amount and what is held grow by an increment. */
  increment: { from: 'authorized', to: 'authorized' },
  /** Nothing is held. */
  decline: { from: null, to: 'declined' },
  /** The merchant collected a part of its money, up to the hold. The rest is held for further clearings. */
  clearPart: { from: 'authorized', to: 'authorized' },
  /** The merchant collected all or the last of its money, up to the hold; or what was not collected was reversed. The rest is returned. */
  clear: { from: 'authorized', to: 'cleared' },
  /** A part of the hold is returned. */
  reversePart: { from: 'authorized', to: 'authorized' },
  /** The whole hold is returned, and nothing has cleared. */
  reverse: { from: 'authorized', to: 'reversed' },
  /** The merchant paid money back, up to what cleared and was not refunded yet. */
  refund: { from: 'cleared', to: 'cleared' },
  /** The same, before the last clearing. */
  refundPart: { from: 'authorized', to: 'authorized' },
} as const satisfies Readonly<Record<string, Move>>

/** Whether a move is allowed in a status. */
export function mayMove(move: keyof typeof AUTHORIZATION_MOVES, status: AuthorizationStatus): boolean {
  return AUTHORIZATION_MOVES[move].from === status
}

/** Why an authorization is declined, in the order in which the reasons are checked. */
export const DECLINE_REASONS = [
  'currency_not_supported',
  'card_canceled',
  'card_locked',
  'card_not_activated',
  'card_expired',
  'account_locked',
  'card_limit_exceeded',
  'policy_blocked',
  'insufficient_funds',
  'suspected_fraud',
  'merchant_blocked',
  /** The host did not decide in time, or its database was down. */
  'unavailable',
] as const
export type DeclineReason = (typeof DECLINE_REASONS)[number]
/** Why an increment is declined. `authorization_not_open`, which is checked first: the status of its authorization is not `authorized`. */
export type IncrementDeclineReason = DeclineReason | 'authorization_not_open'
