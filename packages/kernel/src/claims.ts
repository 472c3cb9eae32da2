import type { EpochMs } from './clock.ts'

/** Which side of the API a credential belongs to. A session of one surface is refused on the other. */
export type Surface = 'user' | 'partner'

/** What a session says, independent of how it travels. Field names are ours; `toClaims` gives the JWT names. */
export interface Session {
  /** `jti`: the session's id. */
  readonly sessionId: string
  /** `sub`: the account that owns money and data. */
  readonly accountId: string
  /** The user within the account, or null where the host keeps no user records. */
  readonly userId: string | null
  /** Proven (user surface) or declared (partner surface) wallet, lower-case hex, or null. */
  readonly walletAddress: string | null
  readonly surface: Surface
  /** `client_id`: the API key that minted the session. */
  readonly keyId: string
  /** The key's version at minting; any change to the key raises it and ends the session. */
  readonly keyVersion: number
  /** Policy ids from root to leaf; all of them must allow. */
  readonly policyIds: readonly string[]
  readonly scopes: readonly string[]
  /** A whole second, because JWT dates are. */
  readonly issuedAt: EpochMs
  /** The session is good while `now < expiresAt`. A whole second, because JWT dates are. */
  readonly expiresAt: EpochMs
}

/** The JWT claims of a session (RFC 9068 plus private `gw_*` claims). Dates are in seconds. */
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

/** Spells a session as JWT claims, dates cut to whole seconds; issuer and audience are the issuer's to add. */
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

const text = (value: unknown): value is string => typeof value === 'string' && value.length > 0
const textOrNull = (value: unknown): value is string | null => value === null || text(value)
const whole = (value: unknown): value is number => Number.isSafeInteger(value)

/**
 * Reads claims back; undefined when any is missing or of the wrong type. `fromClaims(toClaims(s))` equals
 * `s`, given that its dates are whole seconds and its ids not empty.
 */
export function fromClaims(claims: Readonly<Record<string, unknown>>): Session | undefined {
  const {
    jti,
    sub,
    client_id,
    scope,
    iat,
    exp,
    gw_user,
    gw_wallet,
    gw_surface,
    gw_key_version,
    gw_policies,
  } = claims
  if (!text(jti) || !text(sub) || !text(client_id) || typeof scope !== 'string') return undefined
  if (!whole(iat) || !whole(exp) || !whole(gw_key_version)) return undefined
  if (!textOrNull(gw_user) || !textOrNull(gw_wallet)) return undefined
  if (gw_surface !== 'user' && gw_surface !== 'partner') return undefined
  if (!Array.isArray(gw_policies) || !gw_policies.every(text)) return undefined
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
    issuedAt: iat * 1000,
    expiresAt: exp * 1000,
  }
}
