import { Fault, type Session, type Clock } from '@gatewright/kernel'
import { isStorableText } from '@gatewright/kernel/internal'
import { andThen } from '../and-then.ts'
import type { Challenges } from '../challenges.ts'
import type { GuardDenial, GuardReason } from '../codes.ts'
import {
  validateClaims,
  decodeSegment,
  EXPIRED,
  hasOwnClaims,
  typeMatcher,
  type Claims,
  type TokenRules,
} from './claims.ts'
import { isCanonicalCompact } from './compact.ts'
import { explain } from './explain.ts'
import { algorithmName } from './key-rules.ts'
import type { PinnedKey, FindPinnedKey } from './keys.ts'

/** Header members that let a token name its own key (RFC 7515 sections 4.1.2 to 4.1.6). They are denied, not ignored. */
const OWN_KEY_MEMBERS = ['jwk', 'jku', 'x5u', 'x5c'] as const

/** The members of a JWS header that are used. */
interface Header {
  readonly kid: string | undefined
  readonly alg: unknown
}

/** How many headers are cached. An issuer writes the same header into all tokens of a key. */
const MAX_HEADERS = 64

/** A token that is acceptable except for its signature, which has not been checked. */
export interface UnverifiedToken {
  readonly text: string
  readonly head: string
  readonly header: Header
  readonly claims: Claims
  readonly pinned: PinnedKey
}

/** Verifies tokens in two steps, because the check of the signature costs a hundred times more and may have to wait in a queue. */
export interface TokenVerifier {
  /**
   * Checks everything but the signature: canonical compact form, header, claims, then the key of the `kid`, or without one the only key of the
   * algorithm. Returns no promise where the key is known. Fault, rejected: `ERR_KEYS_UNAVAILABLE`.
   */
  precheck(token: string): UnverifiedToken | GuardDenial | Promise<UnverifiedToken | GuardDenial>
  /**
   * Whether the signature is valid: without a promise where the platform verifies synchronously. Fault, thrown or rejected:
   * `ERR_KEYS_UNAVAILABLE` for a key that cannot be used.
   */
  isSigned(token: UnverifiedToken): boolean | Promise<boolean>
  /** Returns the session of a token whose signature was found valid, or the denial of a token that has expired or describes no session. */
  sessionOf(token: UnverifiedToken): Session | GuardDenial
}

/** Throws the fault of a key that the platform cannot use: the key is wrong, not the token. */
function unusableKey(cause: unknown): never {
  throw new Fault('ERR_KEYS_UNAVAILABLE', 'the verification key cannot be used', { cause })
}

/**
 * Makes the verification of tokens (RFC 9068 section 4, RFC 8725). It checks the canonical compact form, `typ`, `iss`,
 * `aud`, `exp`, `nbf`, `iat`, the key of the `kid` (without one, the only key of the algorithm) and its algorithm, the signature, then the session. The tolerance applies
 * only to `nbf` and `iat` in the future and never extends `exp`.
 */
export function createTokenVerifier(
  keys: FindPinnedKey,
  rules: TokenRules,
  clock: Clock,
  challenges: Challenges,
): TokenVerifier {
  const { types, clockToleranceSeconds, readSession, requiresPolicies } = rules
  const isAcceptedType = typeMatcher(types)
  /** Headers of tokens with a valid signature, by their text. Forged tokens cannot evict them. */
  const headers = new Map<string, Header>()

  const remember = (head: string, header: Header): void => {
    if (headers.has(head)) return
    if (headers.size >= MAX_HEADERS) headers.clear()
    // Copies the text: a slice would keep the whole token in memory.
    headers.set(JSON.parse(JSON.stringify(head)) as string, header)
  }

  /** Reads a header, or returns why it is not acceptable. */
  const readHeader = (head: string): Header | GuardReason => {
    const header = decodeSegment(head)
    if (!header) return 'unreadable header'
    const { kid, alg } = header
    if (kid !== undefined && (typeof kid !== 'string' || kid === '')) return 'no kid'
    if ('crit' in header) return 'crit header'
    for (const name of OWN_KEY_MEMBERS) if (name in header) return `${name} header`
    return isAcceptedType(header['typ']) ? { kid, alg } : 'wrong typ'
  }

  const denied = (
    reason: GuardReason,
    token: Omit<Parameters<typeof explain>[1], 'rules' | 'now'> = {},
  ): GuardDenial => challenges.invalid(reason, explain(reason, { rules, now: clock.now(), ...token }))

  return {
    precheck(token) {
      if (!isCanonicalCompact(token)) return challenges.invalid('not a canonical compact JWS')
      const [head, payload] = token.split('.', 2) as [string, string]
      const header = headers.get(head) ?? readHeader(head)
      if (typeof header === 'string') return denied(header, { header: decodeSegment(head) ?? {} })
      const claims = decodeSegment(payload)
      if (!claims) return denied('claims are not a JSON object')
      const problem = validateClaims(claims, rules, clock.now())
      if (problem !== undefined)
        return problem === EXPIRED ? challenges.expired() : denied(problem, { claims })
      const withKey = (pinned: PinnedKey | undefined): UnverifiedToken | GuardDenial => {
        if (!pinned)
          return denied(header.kid === undefined ? 'no kid' : 'unknown key', { header: { ...header } })
        return algorithmName(header.alg) === pinned.algorithm
          ? { text: token, head, header, claims, pinned }
          : denied('the algorithm does not match the key', {
              header: { ...header },
              algorithm: pinned.algorithm,
            })
      }
      return andThen(keys(header.kid, header.alg), withKey)
    },
    isSigned({ text, pinned }) {
      try {
        const isSigned = pinned.key.isSigned(text)
        return typeof isSigned === 'boolean' ? isSigned : isSigned.catch(unusableKey)
      } catch (cause) {
        return unusableKey(cause)
      }
    },
    sessionOf({ head, header, claims }) {
      remember(head, header)
      const now = clock.now()
      const session = readSession(claims)
      if (!session) return denied('claims do not describe a session', { claims })
      if (requiresPolicies && !hasOwnClaims(claims)) return denied('the token names no policies')
      if (![session.accountId, session.sessionId, session.keyId].every(isStorableText)) {
        return challenges.invalid('an id with a NUL or a lone surrogate')
      }
      // A reader rounds a fraction of a second up. `validateClaims` has compared `iat` itself.
      if (session.issuedAt >= now + clockToleranceSeconds * 1000 + 1000) {
        return denied('issued in the future', { claims })
      }
      return now < session.expiresAt ? session : challenges.expired()
    },
  }
}
