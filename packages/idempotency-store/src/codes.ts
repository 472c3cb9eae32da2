import { denier, type DenialOf } from '@gatewright/kernel/internal'

/** The denial codes of this package and their HTTP statuses. */
export const codes = {
  /** The request has no `Idempotency-Key`. */
  idempotency_key_required: 400,
  /** The key is too short, too long, or has a character that is not allowed. */
  idempotency_key_invalid: 400,
  /** The key was already used with another payload. */
  idempotency_key_reused: 400,
  /** The first run of this write has not ended yet, or too many other writes of the account run. */
  request_in_progress: 429,
  /** A run of this write was lost, and it is unknown whether it took effect. */
  outcome_unknown: 503,
} as const

/** The closed union of this package's denials. */
export type IdempotencyDenial = DenialOf<typeof codes>

/** Makes a denial of this package. */
export const deny: ReturnType<typeof denier<typeof codes>> = denier(codes)
