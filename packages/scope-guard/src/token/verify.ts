import { Fault, isStorableText, type Clock, type EpochMs, type Session } from '@gatewright/kernel'
import {
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTPayload,
  type ProtectedHeaderParameters,
} from 'jose'
import type { Challenges } from '../challenge.ts'
import type { GuardDenial } from '../codes.ts'
import { isCanonicalCompact } from './compact.ts'
import type { PinnedKeys } from './keys.ts'

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

/** What a header says that matters. */
interface Header {
  readonly kid: string
  readonly alg: unknown
}

/** Most headers remembered: an issuer writes one and the same into all tokens of a key. */
const HEADERS = 64

/** Reads a header, or says why it names no key that may verify it. */
function readHeader(token: string): Header | string {
  let header: ProtectedHeaderParameters
  try {
    header = decodeProtectedHeader(token)
  } catch {
    return 'unreadable header'
  }
  const { kid, alg } = header
  if (typeof kid !== 'string' || kid === '') return 'no kid'
  if ('crit' in header) return 'crit header'
  for (const name of SELF_KEYED) if (name in header) return `${name} header`
  return { kid, alg }
}

/** Verifies one token that is not in the cache. Fault: `ERR_KEYS_UNAVAILABLE`. */
export type TokenVerifier = (token: string) => Promise<Session | GuardDenial>

/**
 * Makes the verification of tokens (RFC 9068 section 4, RFC 8725): canonical compact form, a key known by `kid` with
 * its own algorithm, signature, `typ`, `iss`, `aud`, `exp`, `nbf`, `iat`, then the claims. The tolerance applies to
 * dates in the future (`nbf`, `iat`) only: it never lengthens a life.
 */
export function tokenVerifier(
  keys: PinnedKeys,
  rules: TokenRules,
  clock: Clock,
  challenges: Challenges,
): TokenVerifier {
  const { issuer, audience, typ, clockToleranceSeconds, readSession } = rules
  /** Headers of tokens that proved good, by their text, so that a stranger's tokens push none out. */
  const headers = new Map<string, Header>()

  const remember = (text: string, header: Header): void => {
    if (headers.size >= HEADERS) headers.clear()
    // A text of its own: a slice would keep the whole token in memory.
    headers.set(Buffer.from(text, 'latin1').toString('latin1'), header)
  }

  const sessionOf = (payload: JWTPayload, now: EpochMs): Session | GuardDenial => {
    const session = readSession(payload)
    if (!session) return challenges.invalid('claims do not describe a session')
    if (![session.accountId, session.sessionId, session.keyId].every(isStorableText))
      return challenges.invalid('an id with a NUL or a lone surrogate')
    if (session.issuedAt > now + clockToleranceSeconds * 1000)
      return challenges.invalid('issued in the future')
    return now < session.expiresAt ? session : challenges.expired()
  }

  return async token => {
    if (!isCanonicalCompact(token)) return challenges.invalid('not a canonical compact JWS')
    const text = token.slice(0, token.indexOf('.'))
    const known = headers.get(text)
    const header = known ?? readHeader(token)
    if (typeof header === 'string') return challenges.invalid(header)
    const found = keys(header.kid)
    const pinned = found instanceof Promise ? await found : found
    if (!pinned) return challenges.invalid('unknown key')
    if (header.alg !== pinned.algorithm) return challenges.invalid('algorithm is not the one of the key')
    const now = clock.now()
    try {
      const { payload } = await jwtVerify(token, pinned.key, {
        algorithms: pinned.algorithms,
        issuer,
        audience,
        typ,
        currentDate: new Date(now),
        clockTolerance: clockToleranceSeconds,
        requiredClaims: REQUIRED,
      })
      if (!known) remember(text, header)
      return sessionOf(payload, now)
    } catch (error) {
      if (error instanceof errors.JWTExpired) return challenges.expired()
      if (error instanceof errors.JOSEError) return challenges.invalid(error.code)
      // Not the token's fault: a key that jose refuses to use, such as RSA of fewer than 2048 bits.
      throw new Fault('ERR_KEYS_UNAVAILABLE', 'the verification key cannot be used', { cause: error })
    }
  }
}
