/** The status of a pay-in. The last four are final. */
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

/** The moves between statuses, by cause. Nothing else changes a status, and each move is recorded. */
export const PAYIN_MOVES = {
  /** The client submitted a transaction. */
  submitted: { from: OPEN, to: 'confirming' },
  /** A matching transfer was seen without enough confirmations. */
  seen: { from: OPEN, to: 'confirming' },
  /** A reorganisation removed the seen transfer from the chain. */
  reorganised: { from: ['confirming'], to: 'confirming' },
  /** A matching transfer has its confirmations. */
  paid_on_chain: { from: OPEN, to: 'settled' },
  /** Paid from the balance. Not allowed while a payment on a chain is confirming, because the pay-in would be paid twice. */
  paid_from_balance: { from: ['awaiting_payment'], to: 'settled' },
  /** Paid with play money in a sandbox. */
  simulated: { from: OPEN, to: 'settled' },
  /** No payment arrived in time. */
  deadline_passed: { from: OPEN, to: 'expired' },
  /** A transaction was submitted, and none had paid by the deadline. */
  payment_invalid: { from: ['confirming'], to: 'failed' },
  /** Closed by an operator. */
  canceled: { from: OPEN, to: 'canceled' },
} as const satisfies Readonly<Record<string, Move>>

export type PayinCause = keyof typeof PAYIN_MOVES

/** Whether a pay-in can still be paid. */
export function isOpen(status: PayinStatus): boolean {
  return OPEN.includes(status)
}

/** Returns the status after `cause`; undefined if the cause is not allowed in this status. */
export function nextStatus(status: PayinStatus, cause: PayinCause): PayinStatus | undefined {
  const { from, to }: Move = PAYIN_MOVES[cause]
  return from.includes(status) ? to : undefined
}
