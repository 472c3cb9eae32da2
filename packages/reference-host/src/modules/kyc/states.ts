/** How far the check of an account's identity is. */
export const KYC_STATUSES = [
  'not_submitted',
  'pending',
  'approved',
  'denied',
  'manual_review',
  'needs_information',
  'needs_verification',
  'locked',
  'canceled',
] as const
export type KycStatus = (typeof KYC_STATUSES)[number]

/** What an operator can decide. */
export const DECIDED_STATUSES: readonly KycStatus[] = KYC_STATUSES.filter(each => each !== 'not_submitted')

/** Statuses that lock an account: see `isAccountLocked`. If an operator decided on one, no report ends it. */
export const LOCKED_STATUSES: readonly KycStatus[] = ['locked', 'denied']

/**
 * Who changes the status: the person submits, the operator decides, the provider reports. A report is `versioned` if the provider
 * counts its changes: then the newest one is known, whatever the order of arrival.
 */
type KycCause = 'submitted' | 'reported' | 'versioned' | 'decided'

interface Moves {
  readonly from: readonly KycStatus[]
  readonly to: readonly KycStatus[]
}

const OPEN: readonly KycStatus[] = ['pending', 'manual_review', 'needs_information', 'needs_verification']

/** Every change that is allowed. A provider's report that is not listed changes no status. */
export const KYC_MOVES: Readonly<Record<KycCause, readonly Moves[]>> = {
  submitted: [{ from: ['not_submitted', 'needs_information', 'canceled'], to: ['pending'] }],
  reported: [
    { from: OPEN, to: [...OPEN, 'approved', 'denied', 'locked'] },
    { from: ['approved'], to: ['manual_review', 'locked'] },
  ],
  // From each to each: only so the end is the same for reports that arrive in another order.
  versioned: [
    { from: [...OPEN, 'approved', ...LOCKED_STATUSES], to: [...OPEN, 'approved', ...LOCKED_STATUSES] },
  ],
  decided: [{ from: KYC_STATUSES, to: DECIDED_STATUSES }],
}

/** Whether the status may change so. */
export function mayMove(cause: KycCause, from: KycStatus, to: KycStatus): boolean {
  return KYC_MOVES[cause].some(moves => moves.from.includes(from) && moves.to.includes(to))
}
