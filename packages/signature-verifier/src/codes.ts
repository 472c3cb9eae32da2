import { denier, type CauseText, type DenialOf } from '@gatewright/kernel'

/** Every denial of this package, as spelled on the wire, with its HTTP status. */
export const codes = {
  /** A field is missing, malformed, or asks for what no statement may have. `field` names it. */
  invalid_request: 400,
  /** Wrong signer, replayed nonce, expired, from the future, or meant for another host: one answer for all. */
  invalid_signature: 401,
  /** This address class already has its share of signature checks waiting. Nothing was checked or claimed. */
  rate_limited: 429,
} as const

/** What `verify` can refuse with. */
export type ProofDenial = DenialOf<typeof codes>

/** Every exact cause of an `invalid_signature` or `rate_limited`, for the decision event. `{field}` is a field's name. */
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
  'challenge unknown, ended or used before',
  'nonce used before',
  'too many signature checks waiting for this address class',
] as const
export type ProofReason = CauseText<(typeof reasons)[number]>

const deny: ReturnType<typeof denier<typeof codes, never, ProofReason>> = denier(codes)

const remembered = new Map<string, ProofDenial>()

/**
 * The field is at fault; the caller can mend it. Both texts are the package's own, so there are few of them, and junk
 * is refused without making anything new.
 */
export function invalidRequest(field: string, message: string): ProofDenial {
  const known = `${field}: ${message}`
  let denial = remembered.get(known)
  if (!denial) {
    denial = Object.freeze(deny('invalid_request', message, { field }))
    remembered.set(known, denial)
  }
  return denial
}

/** The one 401 of this package. The exact cause stays in `reason`, for the decision event only. */
export function invalidSignature(reason: ProofReason): ProofDenial {
  return deny('invalid_signature', 'The wallet proof is not valid.', { reason })
}

/** A full queue is worked off well within this. */
export const RETRY_AFTER_SECONDS = 1

/** Refuses a flooding address class, and only that one. */
export function rateLimited(retryAfterSeconds: number): ProofDenial {
  const reason = 'too many signature checks waiting for this address class'
  return deny('rate_limited', 'Too many wallet proofs at once.', { retryAfterSeconds, reason })
}
