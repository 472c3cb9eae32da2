import type { Denial } from '@gatewright/kernel'

/** Whose statuses and header a client of idempotent writes expects. */
export type IdempotencyDialect = 'gatewright' | 'ietf' | 'stripe'

/** What differs between the dialects. Codes and bodies are the same in all. */
export interface DialectTerms {
  /** The field that marks a replay. */
  readonly replayedField: string
  /** Statuses of denials of the idempotency record that differ from those of idempotency-store, by code. */
  readonly statuses: Readonly<Record<string, number>>
}

/**
 * The dialects. `ietf`: draft-ietf-httpapi-idempotency-key-header-07 section 2.7, which names no field for replays. `stripe`:
 * docs.stripe.com/api/idempotent_requests and /api/errors, where a reused key is a 400 and a key in use a 409.
 */
export const DIALECTS: Readonly<Record<IdempotencyDialect, DialectTerms>> = {
  gatewright: { replayedField: 'Idempotency-Replayed', statuses: {} },
  ietf: {
    replayedField: 'Idempotency-Replayed',
    statuses: { request_in_progress: 409, idempotency_key_reused: 422 },
  },
  stripe: { replayedField: 'Idempotent-Replayed', statuses: { request_in_progress: 409 } },
}

/** Returns a denial of the idempotency record with the status of the dialect. */
export function inDialect({ statuses }: DialectTerms, denial: Denial): Denial {
  const status = Object.hasOwn(statuses, denial.code) ? statuses[denial.code] : undefined
  return status === undefined ? denial : { ...denial, status }
}
