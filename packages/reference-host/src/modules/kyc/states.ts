/** The statuses of an account's identity check. */
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

/** The statuses that an operator can decide on. */
export const DECIDED_STATUSES: readonly KycStatus[] = KYC_STATUSES.filter(each => each !== 'not_submitted')

/** Statuses that lock an account: see `isAccountLocked`. If an operator decided on one, no report ends it. */
export const LOCKED_STATUSES: readonly KycStatus[] = ['locked', 'denied']

/**
 * Who changes the status: the person submits, the operator decides, the provider reports. A report is `versioned` if the
 * provider numbers its changes: then the newest report is known, in whatever order reports arrive.
 */
type KycCause = 'submitted' | 'reported' | 'versioned' | 'decided'

interface Moves {
  readonly from: readonly KycStatus[]
  readonly to: readonly KycStatus[]
}

const OPEN: readonly KycStatus[] = ['pending', 'manual_review', 'needs_information', 'needs_verification']

/** Every change that is allowed. A report of another change is ignored. */
export const KYC_MOVES: Readonly<Record<KycCause, readonly Moves[]>> = {
  submitted: [{ from: ['not_submitted', 'needs_information', 'canceled'], to: ['pending'] }],
  reported: [
    { from: OPEN, to: [...OPEN, 'approved', 'denied', 'locked'] },
    { from: ['approved'], to: ['manual_review', 'locked'] },
  ],
  // From each to each, so that the final status does not depend on the order in which reports arrive.
  versioned: [
    { from: [...OPEN, 'approved', ...LOCKED_STATUSES], to: [...OPEN, 'approved', ...LOCKED_STATUSES] },
  ],
  decided: [{ from: KYC_STATUSES, to: DECIDED_STATUSES }],
}

/** Whether a status may change to another for this cause. */
export function mayMove(cause: KycCause, from: KycStatus, to: KycStatus): boolean {
  return KYC_MOVES[cause].some(moves => moves.from.includes(from) && moves.to.includes(to))
}
