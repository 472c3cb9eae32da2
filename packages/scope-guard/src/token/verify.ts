import { Fault, isStorableText, type Clock, type Session } from '@gatewright/kernel'
import { compactVerify, errors } from 'jose'
import type { Challenges } from '../challenge.ts'
import type { GuardDenial, GuardReason } from '../codes.ts'
import { claimFault, decodeSegment, EXPIRED, typeMatcher, type ClaimRules, type Claims } from './claims.ts'
import { isCanonicalCompact } from './compact.ts'
import { algorithmName } from './key-rules.ts'
import type { PinnedKey, PinnedKeys } from './keys.ts'

/** Reads a verified token's claims as a session; undefined when they do not describe one. */
export type SessionReader = (claims: Claims) => Session | undefined

/** What a token must say to be accepted. */
export interface TokenRules extends ClaimRules {
  readonly typ: string
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

/** A token of which everything but the signature is acceptable. Nothing it says is proven. */
export interface UnprovenToken {
  readonly text: string
  readonly head: string
  readonly header: Header
  readonly claims: Claims
  readonly pinned: PinnedKey
}

/** Verifies tokens in two steps, so that the second, which costs a hundred times the first, can wait its turn. */
export interface TokenVerifier {
  /**
   * Judges what can be judged without the signature: canonical compact form, header, claims, then the key of the
   * `kid` and its algorithm. Fault: `ERR_KEYS_UNAVAILABLE`.
   */
  precheck(token: string): Promise<UnprovenToken | GuardDenial>
  /** Whether the signature is by the key. Fault: `ERR_KEYS_UNAVAILABLE` for a key that cannot be used. */
  isSigned(token: UnprovenToken): Promise<boolean>
  /** The session of a token whose signature holds, unless it ended meanwhile or its claims describe none. */
  sessionOf(token: UnprovenToken): Session | GuardDenial
}

/**
 * Makes the verification of tokens (RFC 9068 section 4, RFC 8725): canonical compact form, `typ`, `iss`, `aud`, `exp`,
 * `nbf`, `iat`, a key known by `kid` with its own algorithm, signature, then the session. The tolerance applies to
 * dates in the future (`nbf`, `iat`) only: it never lengthens a life.
 */
export function tokenVerifier(
  keys: PinnedKeys,
  rules: TokenRules,
  clock: Clock,
  challenges: Challenges,
): TokenVerifier {
  const { typ, clockToleranceSeconds, readSession } = rules
  const isWantedType = typeMatcher(typ)
  /** Headers of tokens that proved good, by their text, so that a stranger's tokens push none out. */
  const headers = new Map<string, Header>()

  const remember = (head: string, header: Header): void => {
    if (headers.has(head)) return
    if (headers.size >= HEADERS) headers.clear()
    // A text of its own: a slice would keep the whole token in memory.
    headers.set(Buffer.from(head, 'latin1').toString('latin1'), header)
  }

  /** Reads a header, or says why it names no key that may verify it. */
  const readHeader = (head: string): Header | GuardReason => {
    const header = decodeSegment(head)
    if (!header) return 'unreadable header'
    const { kid, alg } = header
    if (typeof kid !== 'string' || kid === '') return 'no kid'
    if ('crit' in header) return 'crit header'
    for (const name of SELF_KEYED) if (name in header) return `${name} header`
    return isWantedType(header['typ']) ? { kid, alg } : 'another type'
  }

  return {
    async precheck(token) {
      if (!isCanonicalCompact(token)) return challenges.invalid('not a canonical compact JWS')
      const [head, payload] = token.split('.', 2) as [string, string]
      const header = headers.get(head) ?? readHeader(head)
      if (typeof header === 'string') return challenges.invalid(header)
      const claims = decodeSegment(payload)
      if (!claims) return challenges.invalid('claims are not a JSON object')
      const fault = claimFault(claims, rules, clock.now())
      if (fault !== undefined) return fault === EXPIRED ? challenges.expired() : challenges.invalid(fault)
      const pinned = await keys(header.kid)
      if (!pinned) return challenges.invalid('unknown key')
      if (algorithmName(header.alg) !== pinned.algorithm) {
        return challenges.invalid('algorithm is not the one of the key')
      }
      return { text: token, head, header, claims, pinned }
    },
    async isSigned({ text, head, header, pinned }) {
      try {
        await compactVerify(text, pinned.key, { algorithms: pinned.algorithms })
        remember(head, header)
        return true
      } catch (error) {
        if (error instanceof errors.JOSEError) return false
        // Not the token's fault: a key that jose refuses to use.
        throw new Fault('ERR_KEYS_UNAVAILABLE', 'the verification key cannot be used', { cause: error })
      }
    },
    sessionOf({ claims }) {
      const now = clock.now()
      const session = readSession(claims)
      if (!session) return challenges.invalid('claims do not describe a session')
      if (![session.accountId, session.sessionId, session.keyId].every(isStorableText)) {
        return challenges.invalid('an id with a NUL or a lone surrogate')
      }
      if (session.issuedAt > now + clockToleranceSeconds * 1000) {
        return challenges.invalid('issued in the future')
      }
      return now < session.expiresAt ? session : challenges.expired()
    },
  }
}
