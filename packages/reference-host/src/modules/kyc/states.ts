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

/** Who changes the status: the person submits, the provider reports, the operator decides. */
export type KycCause = 'submitted' | 'reported' | 'decided'

interface Moves {
  readonly from: readonly KycStatus[]
  readonly to: readonly KycStatus[]
}

/** Every change that is allowed. A provider's report that is not listed changes nothing. */
export const KYC_MOVES: Readonly<Record<KycCause, readonly Moves[]>> = {
  submitted: [{ from: ['not_submitted', 'needs_information', 'canceled'], to: ['pending'] }],
  reported: [
    {
      from: ['pending', 'manual_review', 'needs_information', 'needs_verification'],
      to: ['pending', 'approved', 'denied', 'manual_review', 'needs_information', 'needs_verification'],
    },
    { from: ['approved'], to: ['manual_review', 'locked'] },
  ],
  decided: [{ from: KYC_STATUSES, to: DECIDED_STATUSES }],
}

/** Whether the status may change so. */
export function mayMove(cause: KycCause, from: KycStatus, to: KycStatus): boolean {
  return KYC_MOVES[cause].some(moves => moves.from.includes(from) && moves.to.includes(to))
}
