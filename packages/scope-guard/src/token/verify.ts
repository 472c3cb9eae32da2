import { Fault, type Clock, type Session } from '@gatewright/kernel'
import { decodeProtectedHeader, errors, jwtVerify, type ProtectedHeaderParameters } from 'jose'
import type { Challenges } from '../challenge.ts'
import type { GuardDenial } from '../codes.ts'
import { isCanonicalCompact } from './compact.ts'
import type { PinnedKey } from './keys.ts'

/** Reads a verified token's claims as a session; undefined when they do not describe one. */
export type SessionReader = (claims: Readonly<Record<string, unknown>>) => Session | undefined

const REQUIRED = ['exp', 'iat']

/** What a token must say to be accepted. */
export interface TokenRules {
  readonly issuer: string
  readonly audience: string
  readonly typ: string
  readonly clockToleranceSeconds: number
  readonly readSession: SessionReader
}

/** Header members that let a token name its own key (RFC 7515 4.1.2 to 4.1.6). Refused, not ignored. */
const SELF_KEYED = ['jwk', 'jku', 'x5u', 'x5c'] as const

/** The key a header names, or why it names none that may verify it. */
async function keyFor(
  token: string,
  keys: (kid: string) => Promise<PinnedKey | undefined>,
): Promise<PinnedKey | string> {
  let header: ProtectedHeaderParameters
  try {
    header = decodeProtectedHeader(token)
  } catch {
    return 'unreadable header'
  }
  if (typeof header.kid !== 'string' || header.kid === '') return 'no kid'
  if ('crit' in header) return 'crit header'
  for (const name of SELF_KEYED) if (name in header) return `${name} header`
  const pinned = await keys(header.kid)
  if (!pinned) return 'unknown key'
  return header.alg === pinned.algorithm ? pinned : 'algorithm is not the one of the key'
}

/**
 * Verifies one token that is not in the cache (RFC 9068 section 4, RFC 8725): canonical compact form, a key
 * known by `kid` with its own algorithm, signature, `typ`, `iss`, `aud`, `exp`, `nbf`, `iat`, then the claims.
 * The tolerance applies to dates in the future (`nbf`, `iat`) only: it never lengthens a life.
 * Fault: `ERR_KEYS_UNAVAILABLE`.
 */
export async function verifyToken(
  token: string,
  keys: (kid: string) => Promise<PinnedKey | undefined>,
  rules: TokenRules,
  clock: Clock,
  challenges: Challenges,
): Promise<Session | GuardDenial> {
  if (!isCanonicalCompact(token)) return challenges.invalid('not a canonical compact JWS')
  const pinned = await keyFor(token, keys)
  if (typeof pinned === 'string') return challenges.invalid(pinned)
  const now = clock.now()
  try {
    const { payload } = await jwtVerify(token, pinned.key, {
      algorithms: pinned.algorithms,
      issuer: rules.issuer,
      audience: rules.audience,
      typ: rules.typ,
      currentDate: new Date(now),
      clockTolerance: rules.clockToleranceSeconds,
      requiredClaims: REQUIRED,
    })
    const session = rules.readSession(payload)
    if (!session) return challenges.invalid('claims do not describe a session')
    if (session.issuedAt > now + rules.clockToleranceSeconds * 1000) {
      return challenges.invalid('issued in the future')
    }
    return now < session.expiresAt ? session : challenges.expired()
  } catch (error) {
    if (error instanceof errors.JWTExpired) return challenges.expired()
    if (error instanceof errors.JOSEError) return challenges.invalid(error.code)
    // Not the token's fault: a key that jose refuses to use, such as RSA of fewer than 2048 bits.
    throw new Fault('ERR_KEYS_UNAVAILABLE', 'the verification key cannot be used', { cause: error })
  }
}
