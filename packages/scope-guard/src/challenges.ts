import type { HeaderField } from '@gatewright/kernel/internal'
import { deny, type GuardDenial, type GuardReason } from './codes.ts'

/** The denials about credentials and scopes, each with its RFC 6750 section 3 challenge. */
export interface Challenges {
  /** Denies a request without a bearer credential. The challenge has no error code (section 3.1). */
  missing(): GuardDenial
  /**
   * Denies a credential that is not valid. The response is the same for every cause; `reason` goes to the decision event, and
   * `explanation` to the log.
   */
  invalid(reason: GuardReason, explanation?: string): GuardDenial
  expired(): GuardDenial
  /** Denies a request whose token is bound to a key and not proven (RFC 9449 section 7.1). */
  invalidProof(reason: GuardReason): GuardDenial
  /** Denies a session without a needed scope. `scope` is what the operation needs, `missing` what the session lacks. */
  scope(scope: string, missing: string): GuardDenial
}

/** The algorithms of proofs, for clients to choose from. */
const PROOF_ALGORITHMS = 'ES256 ES384 ES512 EdDSA Ed25519 PS256 PS384 PS512 RS256 RS384 RS512'

/** Makes the denials. Clients do not tell realms apart, so there is one. */
export function createChallenges(): Challenges {
  const field = (parameters: string): readonly HeaderField[] => [
    ['WWW-Authenticate', `Bearer realm="api"${parameters}`],
  ]
  const none = field('')
  const invalid = field(', error="invalid_token", error_description="The access token is not valid"')
  const expired = field(', error="invalid_token", error_description="The access token has expired"')
  const invalidProof: readonly HeaderField[] = [
    ['WWW-Authenticate', `DPoP realm="api", error="invalid_dpop_proof", algs="${PROOF_ALGORITHMS}"`],
  ]
  return {
    missing: () => ({
      headers: none,
      ...deny('unauthorized', 'A bearer session token is required', { reason: 'no credential' }),
    }),
    invalid: (reason, explanation) => ({
      headers: invalid,
      ...deny(
        'unauthorized',
        'The session token is not valid: get a new one',
        explanation === undefined ? { reason } : { reason, explanation },
      ),
    }),
    expired: () => ({
      headers: expired,
      ...deny('session_expired', 'The session has expired: get a new token'),
    }),
    invalidProof: reason => ({
      headers: invalidProof,
      ...deny('invalid_dpop_proof', 'The DPoP proof is missing or not valid', { reason }),
    }),
    scope: (scope, missing) => ({
      headers: field(`, error="insufficient_scope", scope="${scope}"`),
      ...deny('insufficient_scope', `The session lacks the scope ${missing}`, {
        details: { scope: missing },
      }),
    }),
  }
}
