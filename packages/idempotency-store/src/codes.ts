import { denier, type DenialOf } from '@gatewright/kernel'

/** Every denial of this package with its status. */
export const codes = {
  /** No key was sent with a write that needs one. */
  idempotency_key_required: 400,
  /** The key is too short, too long or not of the allowed characters. */
  idempotency_key_invalid: 400,
  /** The key was sent before with another payload. */
  idempotency_key_reused: 400,
  /** The first run of this write is still under way. */
  request_in_progress: 429,
  /** A run of this write was lost; nobody can say yet whether it took effect. */
  outcome_unknown: 503,
} as const

/** The closed union of this package's denials. */
export type IdempotencyDenial = DenialOf<typeof codes>

/** Makes a denial of this package. */
export const deny: ReturnType<typeof denier<typeof codes>> = denier(codes)
