import type { EpochMs } from '@gatewright/kernel'
import type { GuardReason } from '../codes.ts'

/** What a token must say to be accepted. */
export interface ClaimRules {
  readonly issuer: string
  readonly audience: string
  readonly clockToleranceSeconds: number
}

/** The claims of a token, decoded and nothing more. */
export type Claims = Readonly<Record<string, unknown>>

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads a segment of a token as a JSON object; undefined when it holds anything else. Proves nothing. */
export function decodeSegment(segment: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(Buffer.from(segment, 'base64url')))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Claims)
      : undefined
  } catch {
    return undefined
  }
}

/** Whether a `typ` is the wanted one: in any case, and with or without `application/` (RFC 7515 section 4.1.9). */
export function typeMatcher(wanted: string): (typ: unknown) => boolean {
  const normal = (typ: string): string => typ.toLowerCase().replace(/^(?!.*\/)/s, 'application/')
  const expected = normal(wanted)
  return typ => typ === wanted || (typeof typ === 'string' && normal(typ) === expected)
}

/**
 * Why claims are not acceptable now, or undefined: `iss`, `aud`, `exp`, `nbf` and `iat`, the first and the last two of
 * which a token of another service commonly has wrong. The tolerance applies to dates in the future only.
 */
export function claimFault(
  claims: Claims,
  rules: ClaimRules,
  now: EpochMs,
): GuardReason | typeof EXPIRED | undefined {
  const { iss, aud, exp, nbf, iat } = claims
  const latest = now + rules.clockToleranceSeconds * 1000
  if (iss !== rules.issuer) return 'another issuer'
  if (aud !== rules.audience && !(Array.isArray(aud) && aud.includes(rules.audience)))
    return 'another audience'
  if (typeof exp !== 'number') return 'no exp'
  if (typeof iat !== 'number') return 'no iat'
  if (iat * 1000 > latest) return 'issued in the future'
  if (nbf !== undefined && typeof nbf !== 'number') return 'nbf must be a number'
  if (nbf !== undefined && nbf * 1000 > latest) return 'not valid yet'
  return exp * 1000 <= now ? EXPIRED : undefined
}

/** What `claimFault` says of a token that is past its end and fine otherwise. */
export const EXPIRED = 'expired'
