import type { Session, EpochMs } from '@gatewright/kernel'
import { decodeText } from '#platform/base64url'
import type { GuardReason } from '../codes.ts'

/** The claims of a token, decoded but not verified. */
export type Claims = Readonly<Record<string, unknown>>

/** Reads a session from a verified token's claims; returns undefined if they do not describe a session. */
export interface SessionReader {
  (claims: Claims): Session | undefined
  /** The `typ` headers of its tokens, unless the guard has the option `typ`; undefined for a header without `typ`. */
  readonly types?: readonly (string | undefined)[]
  /** The claim that contains the audience in tokens without `aud`. Default: such tokens are denied. */
  readonly audienceClaim?: string | undefined
  /** Whether its sessions may have policy ids. False for `sessionReader` without `policyIds`. Default: they may. */
  readonly namesPolicies?: boolean
}

/** The requirements on acceptable tokens. */
export interface TokenRules {
  readonly issuer: string
  readonly audience: string
  /** The `typ` headers; undefined for a header without `typ`. */
  readonly types: readonly (string | undefined)[]
  readonly clockToleranceSeconds: number
  readonly readSession: SessionReader
  /** Denies tokens of issuers that name no policies, because the guard has policies and would apply none to them. */
  readonly requiresPolicies: boolean
}

/** The result of `validateClaims` for a token that is acceptable but has expired. */
export const EXPIRED = 'expired'

/**
 * Whether a token carries a claim of session-issuer. Such a token is not read as another issuer's, because that would ignore
 * its policies.
 */
export const hasOwnClaims = (claims: Claims): boolean =>
  Object.keys(claims).some(name => name.startsWith('gw_'))

/** Decodes a segment of a token; returns undefined if it is not a JSON object. Verifies nothing. */
export function decodeSegment(segment: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(decodeText(segment))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Claims)
      : undefined
  } catch {
    return undefined
  }
}

/** Makes the function that compares a `typ`. It ignores case and a leading `application/` (RFC 7515 section 4.1.9). */
export function typeMatcher(accepted: readonly (string | undefined)[]): (typ: unknown) => boolean {
  const normalize = (typ: string): string => typ.toLowerCase().replace(/^(?!.*\/)/s, 'application/')
  const expected = new Set<unknown>(accepted.map(typ => typ && normalize(typ)))
  return typ => expected.has(typeof typ === 'string' ? normalize(typ) : typ)
}

/** Whether a token is for this API: its `aud`, or without `aud` the claim that its issuer has instead. */
function isForAudience(claims: Claims, { audience, readSession }: TokenRules): boolean {
  const { audienceClaim } = readSession
  const { aud } = claims
  const named = aud === undefined && audienceClaim !== undefined ? claims[audienceClaim] : aud
  return named === audience || (Array.isArray(named) && named.includes(audience))
}

/**
 * Checks `iss`, `aud`, `exp`, `nbf` and `iat`, and returns why they are not acceptable, or undefined. The tolerance
 * applies only to `nbf` and `iat` in the future.
 */
export function validateClaims(
  claims: Claims,
  rules: TokenRules,
  now: EpochMs,
): GuardReason | typeof EXPIRED | undefined {
  const { iss, exp, nbf, iat } = claims
  const latest = now + rules.clockToleranceSeconds * 1000
  if (iss !== rules.issuer) return 'wrong issuer'
  if (!isForAudience(claims, rules)) return 'wrong audience'
  if (typeof exp !== 'number') return 'no exp'
  if (typeof iat !== 'number') return 'no iat'
  if (iat * 1000 > latest) return 'issued in the future'
  if (nbf !== undefined && typeof nbf !== 'number') return 'nbf must be a number'
  if (nbf !== undefined && nbf * 1000 > latest) return 'not valid yet'
  return exp * 1000 <= now ? EXPIRED : undefined
}
