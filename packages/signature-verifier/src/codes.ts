import { denier, type DenialOf, type CauseText } from '@gatewright/kernel/internal'

/** Every denial of this package, as spelled on the wire, with its HTTP status. */
export const codes = {
  /** A field is missing, malformed or out of bounds. `field` names it. */
  invalid_request: 400,
  /** Wrong signer, replayed nonce, expired, from the future, or for another host: one response for all of them. */
  invalid_signature: 401,
  /** Too many signature checks of this address bucket are waiting. Nothing was checked or claimed. */
  rate_limited: 429,
} as const

/** A denial by `verify`. */
export type ProofDenial = DenialOf<typeof codes>

/** Every exact cause of `invalid_signature` and `rate_limited`, for the decision event. `{field}` is a field's name. */
export const reasons = [
  'issued in the future',
  'not valid yet',
  'expired',
  'expired while waiting',
  'message and request differ in {field}',
  'malformed ERC-6492 wrapper, or one inside another',
  'not signed by this key',
  'signed by this key, in a form that is not accepted',
  'not signed by this key, nor by a contract wallet',
  'challenge unknown, expired or used before',
  'nonce used before',
  'issued before the nonces were restored',
  'too many signature checks waiting for this address bucket',
] as const
export type ProofReason = CauseText<(typeof reasons)[number]>

const deny: ReturnType<typeof denier<typeof codes, never, ProofReason>> = denier(codes)

const denials = new Map<string, ProofDenial>()

/**
 * Denies one field of the request. Field and message are fixed texts, so denials are reused, and malformed requests
 * cost no allocation (`npm run bench -- signature-verifier`, junk).
 */
export function invalidRequest(field: string, message: string): ProofDenial {
  const cause = `${field}: ${message}`
  let denial = denials.get(cause)
  if (!denial) {
    denial = Object.freeze(deny('invalid_request', message, { field }))
    denials.set(cause, denial)
  }
  return denial
}

/** The only 401 of this package. The exact cause is in `reason`, for the decision event only. */
export function invalidSignature(reason: ProofReason): ProofDenial {
  return deny('invalid_signature', 'The wallet proof is not valid.', { reason })
}

/** A full queue is processed well within this time. */
const RETRY_AFTER_SECONDS = 1

/** Denies a check of an address bucket that has too many waiting checks. */
export function rateLimited(): ProofDenial {
  const reason = 'too many signature checks waiting for this address bucket'
  return deny('rate_limited', 'Too many wallet proofs at once.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    reason,
  })
}
