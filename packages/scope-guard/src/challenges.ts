import type { HeaderField } from '@gatewright/kernel'
import { readAuthorization, type Authorization } from './authorization.ts'
import { deny, type GuardDenial, type GuardReason } from './codes.ts'
import { PROOF_ALGORITHMS, type CheckedDpop } from './dpop/options.ts'

/** The denials about credentials and scopes, each with its RFC 6750 section 3 challenge. */
export interface Challenges {
  /** Denies a request without a bearer credential. The challenge has no error code (section 3.1). */
  missing(): GuardDenial
  /**
   * Denies a request whose `Authorization` names a scheme of access tokens and not exactly one token: 400 `invalid_request` (RFC 6750
   * section 3.1).
   */
  malformed(authorization: Extract<Authorization, { readonly kind: 'malformed' }>): GuardDenial
  /**
   * Denies a credential that is not valid. The response is the same for every cause; `reason` goes to the decision event, and
   * `explanation` to the log.
   */
  invalid(reason: GuardReason, explanation?: string): GuardDenial
  expired(): GuardDenial
  /** Denies a request whose token is bound to a key and not proven (RFC 9449 section 7.1). */
  invalidProof(reason: GuardReason): GuardDenial
  /** Denies a proof without an acceptable nonce of this API, and gives the client one (RFC 9449 section 9). */
  useNonce(reason: GuardReason, nonce: string): GuardDenial
  /** Denies a token that is not bound to a key, where only bound ones are accepted. */
  unbound(): GuardDenial
  /** Denies a session without a needed scope. `scope` is what the operation needs, `missing` what the session lacks. */
  scope(scope: string, missing: string): GuardDenial
}

/** Makes the denials. Clients do not tell realms apart, so there is one. */
export function createChallenges(dpop: Pick<CheckedDpop, 'isRequired'> | undefined): Challenges {
  const field = (parameters: string): readonly HeaderField[] => [
    ['WWW-Authenticate', `Bearer realm="api"${parameters}`],
  ]
  const proofField = (parameters: string): HeaderField => [
    'WWW-Authenticate',
    `DPoP realm="api"${parameters}, algs="${PROOF_ALGORITHMS.join(' ')}"`,
  ]
  const none = [...(dpop?.isRequired ? [] : field('')), ...(dpop ? [proofField('')] : [])]
  const invalid = field(', error="invalid_token", error_description="The access token is not valid"')
  const malformed = ', error="invalid_request", error_description="Authorization must have exactly one token"'
  const expired = field(', error="invalid_token", error_description="The access token has expired"')
  const invalidProof = [proofField(', error="invalid_dpop_proof"')]
  const useNonce = proofField(
    ', error="use_dpop_nonce", error_description="The DPoP proof must have the nonce of the field DPoP-Nonce"',
  )
  const unbound = [
    proofField(', error="invalid_token", error_description="The access token is not bound to a key"'),
  ]
  return {
    missing: () => ({
      headers: none,
      ...deny('unauthorized', 'A bearer session token is required', { reason: 'no credential' }),
    }),
    malformed: ({ scheme, cause }) => ({
      headers: scheme === 'DPoP' || dpop?.isRequired ? [proofField(malformed)] : field(malformed),
      ...deny(
        'invalid_request',
        `Authorization must be one field: ${dpop?.isRequired ? 'DPoP' : scheme}, a space and the token, without spaces or quotes`,
        { field: 'authorization', reason: 'malformed credential', explanation: `Authorization has ${cause}` },
      ),
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
    useNonce: (reason, nonce) => ({
      headers: [useNonce, ['DPoP-Nonce', nonce]],
      ...deny('use_dpop_nonce', 'The DPoP proof must have the nonce of the field DPoP-Nonce', { reason }),
    }),
    unbound: () => ({
      headers: unbound,
      ...deny('unauthorized', 'The session token is not bound to a key: get one that is', {
        reason: 'the token is not bound, and the guard requires it',
      }),
    }),
    scope: (scope, missing) => ({
      headers: field(`, error="insufficient_scope", scope="${scope}"`),
      ...deny('insufficient_scope', `The session lacks the scope ${missing}`, {
        details: { scope: missing },
      }),
    }),
  }
}

const WITHOUT_DPOP = createChallenges(undefined)

/**
 * Returns the denial of an `Authorization` that has the scheme `Bearer` and not exactly one token, as a guard without the option `dpop`
 * denies it; undefined for any other. For bearer credentials that no guard verifies.
 */
export function malformedCredential(field: string | undefined): GuardDenial | undefined {
  const read = readAuthorization(field)
  return read.kind === 'malformed' && read.scheme === 'Bearer' ? WITHOUT_DPOP.malformed(read) : undefined
}

/**
 * Adds the scopes of an operation to the challenges of a 401 (RFC 6750 section 3), so that a client knows what to request a token
 * for. Other denials are returned as they are.
 */
export function withScope(denial: GuardDenial, scope: string): GuardDenial {
  if (denial.status !== 401 || scope === '') return denial
  const headers = denial.headers.map(
    ([name, value]): HeaderField => [
      name,
      name === 'WWW-Authenticate' ? `${value}, scope="${scope}"` : value,
    ],
  )
  return { ...denial, headers }
}
