import type { EpochMs } from './clock.ts'

/** The side of the API that a credential belongs to. A session of one surface is denied on the other. */
export type Surface = 'user' | 'partner'

/** A session, independent of its encoding. `toClaims` gives the JWT claims. */
export interface Session {
  /** The session's id (`jti`). */
  readonly sessionId: string
  /** The account that owns money and data (`sub`). */
  readonly accountId: string
  /** The user within the account, or null if the host keeps no user records. */
  readonly userId: string | null
  /** The wallet in lower-case hex, or null. On the user surface its holder has signed in; on the partner surface the partner declares it. */
  readonly walletAddress: string | null
  readonly surface: Surface
  /** The API key that the session was issued for (`client_id`). */
  readonly keyId: string
  /** The key's version when the session was issued. Any change to the key raises the version and ends the session. */
  readonly keyVersion: number
  /** Policy ids from root to leaf. All of the policies must allow a request. */
  readonly policyIds: readonly string[]
  readonly scopes: readonly string[]
  /** A whole second, because JWT dates are in seconds. */
  readonly issuedAt: EpochMs
  /** The session is valid while `now < expiresAt`. A whole second, because JWT dates are in seconds. */
  readonly expiresAt: EpochMs
}

/** The JWT claims of a session: those of RFC 9068 and private `gw_*` claims. Dates are in seconds. */
export interface SessionClaims {
  readonly jti: string
  readonly sub: string
  readonly client_id: string
  readonly scope: string
  readonly iat: number
  readonly exp: number
  readonly gw_user: string | null
  readonly gw_wallet: string | null
  readonly gw_surface: Surface
  readonly gw_key_version: number
  readonly gw_policies: readonly string[]
}

/** The `typ` header of session tokens (RFC 9068 section 2.1). */
export const SESSION_TOKEN_TYPE = 'at+jwt'

/** Converts a session to JWT claims and rounds dates down to seconds. The caller adds `iss` and `aud`. */
export function toClaims(session: Session): SessionClaims {
  return {
    jti: session.sessionId,
    sub: session.accountId,
    client_id: session.keyId,
    scope: session.scopes.join(' '),
    iat: Math.floor(session.issuedAt / 1000),
    exp: Math.floor(session.expiresAt / 1000),
    gw_user: session.userId,
    gw_wallet: session.walletAddress,
    gw_surface: session.surface,
    gw_key_version: session.keyVersion,
    gw_policies: session.policyIds,
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0
const isTextOrNull = (value: unknown): value is string | null => value === null || isText(value)
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)

/**
 * Converts the dates of a token to those of a session. They may have fractions of a second (RFC 7519 section 2), and a session has whole
 * seconds: `exp` is rounded down and `iat` up, so that the session begins no earlier and ends no later than its token. Undefined unless both
 * are numbers within the safe integers.
 */
export function sessionDates({
  iat,
  exp,
}: Readonly<Record<string, unknown>>): Pick<Session, 'issuedAt' | 'expiresAt'> | undefined {
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined
  const [issued, expires] = [Math.ceil(iat), Math.floor(exp)]
  if (!isInteger(issued) || !isInteger(expires)) return undefined
  return { issuedAt: issued * 1000, expiresAt: expires * 1000 }
}

/**
 * Converts JWT claims to a session, or returns undefined if a claim is missing or of the wrong type. It does not compare dates: a
 * guard accepts a session only while `now < expiresAt`, whatever its `iat`.
 * `fromClaims(toClaims(s))` equals `s` if the dates of `s` are whole seconds and its ids are not empty.
 */
export function fromClaims(claims: Readonly<Record<string, unknown>>): Session | undefined {
  const { jti, sub, client_id, scope, gw_user, gw_wallet, gw_surface, gw_key_version, gw_policies } = claims
  if (!isText(jti) || !isText(sub) || !isText(client_id) || typeof scope !== 'string') return undefined
  const dates = sessionDates(claims)
  if (!dates || !isInteger(gw_key_version)) return undefined
  if (!isTextOrNull(gw_user) || !isTextOrNull(gw_wallet)) return undefined
  if (gw_surface !== 'user' && gw_surface !== 'partner') return undefined
  if (!Array.isArray(gw_policies) || !gw_policies.every(isText)) return undefined
  return {
    sessionId: jti,
    accountId: sub,
    userId: gw_user,
    walletAddress: gw_wallet,
    surface: gw_surface,
    keyId: client_id,
    keyVersion: gw_key_version,
    policyIds: gw_policies,
    scopes: scope === '' ? [] : scope.split(' '),
    ...dates,
  }
}
