/** Where a pay-in stands (contract section 9). The last four are final. */
export const PAYIN_STATUSES = [
  'awaiting_payment',
  'confirming',
  'settled',
  'expired',
  'failed',
  'canceled',
] as const
export type PayinStatus = (typeof PAYIN_STATUSES)[number]

interface Move {
  readonly from: readonly PayinStatus[]
  readonly to: PayinStatus
}

const OPEN: readonly PayinStatus[] = ['awaiting_payment', 'confirming']

/** What may happen to a pay-in, by cause. Nothing else changes a status, and each is recorded. */
export const PAYIN_MOVES = {
  /** The client says which transaction pays. */
  submitted: { from: OPEN, to: 'confirming' },
  /** A matching transfer is in a block, not deep enough yet. */
  seen: { from: OPEN, to: 'confirming' },
  /** The chain no longer holds the transfer that was seen. */
  reorganised: { from: ['confirming'], to: 'confirming' },
  /** A matching transfer has its confirmations. */
  paid_on_chain: { from: OPEN, to: 'settled' },
  /** Paid from the account's balance. A payment that is under way on a chain cannot be paid a second time. */
  paid_from_balance: { from: ['awaiting_payment'], to: 'settled' },
  /** Nothing came in time. */
  deadline_passed: { from: OPEN, to: 'expired' },
  /** A transaction was named, and by the deadline none had paid. */
  payment_invalid: { from: ['confirming'], to: 'failed' },
  /** An operator gave it up. */
  canceled: { from: OPEN, to: 'canceled' },
} as const satisfies Readonly<Record<string, Move>>

export type PayinCause = keyof typeof PAYIN_MOVES

/** Whether a pay-in can still be paid. */
export function isOpen(status: PayinStatus): boolean {
  return OPEN.includes(status)
}

/** The status after `cause`, or undefined where it cannot happen. */
export function nextStatus(status: PayinStatus, cause: PayinCause): PayinStatus | undefined {
  const { from, to }: Move = PAYIN_MOVES[cause]
  return from.includes(status) ? to : undefined
}
