import { keyDigest, knownOptions, type Session, type Surface, type OptionNames } from '@gatewright/kernel'
import type { SessionReader } from './verify.ts'

/** Where another issuer's tokens say what a session says. Each claim may be given as a list of names; the first found counts. */
export interface ForeignClaims {
  /** The account: its id is what counters and buckets belong to. Default `sub`. */
  readonly account?: string | readonly string[]
  /** The token's own id. Default `jti`, `uti`; without one, a digest of the claims. */
  readonly id?: string | readonly string[]
  /** The client that asked for the token, whose bucket `per: 'key'` is. Default `client_id`, `azp`, `appid`. */
  readonly client?: string | readonly string[]
  /**
   * Claims that hold scopes: a text (separated by spaces) or a list of texts. All that are present count together.
   * Default `scope`, `scp`, `permissions`.
   */
  readonly scopes?: readonly string[]
  /** Which surface such tokens belong to. Default `user`. */
  readonly surface?: Surface
  /** Policies that bind a token; default none. */
  readonly policyIds?: (claims: Readonly<Record<string, unknown>>) => readonly string[]
}

const CLAIMS: OptionNames<ForeignClaims> = {
  account: true,
  id: true,
  client: true,
  scopes: true,
  surface: true,
  policyIds: true,
}

const list = (names: string | readonly string[]): readonly string[] =>
  typeof names === 'string' ? [names] : names

/** The scopes of one claim; undefined when it is neither a text nor a list of texts. */
function scopesOf(value: unknown): string[] | undefined {
  if (value === undefined) return []
  const parts: unknown = typeof value === 'string' ? value.split(' ') : value
  if (!Array.isArray(parts) || !parts.every(part => typeof part === 'string')) return undefined
  return parts.filter(part => part !== '')
}

/**
 * Reads tokens of other issuers as sessions: Auth0-style (`scope`, `permissions`) and Entra-style (`scp`) as it
 * is. Set `typ: 'JWT'` on the guard for them. Such sessions have no key version, so a key cannot be revoked here.
 */
export function sessionReader(claims: ForeignClaims = {}): SessionReader {
  knownOptions('sessionReader', claims, CLAIMS)
  const account = list(claims.account ?? 'sub')
  const id = list(claims.id ?? ['jti', 'uti'])
  const client = list(claims.client ?? ['client_id', 'azp', 'appid'])
  const { scopes = ['scope', 'scp', 'permissions'], surface = 'user', policyIds = () => [] } = claims
  return (payload): Session | undefined => {
    const text = (names: readonly string[]): string | undefined =>
      names.map(name => payload[name]).find(value => typeof value === 'string' && value !== '') as
        | string
        | undefined
    const { iat, exp } = payload
    const accountId = text(account)
    const read = scopes.map(name => scopesOf(payload[name]))
    if (accountId === undefined || read.includes(undefined)) return undefined
    if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp)) return undefined
    return {
      sessionId: text(id) ?? keyDigest(JSON.stringify(payload)),
      accountId,
      userId: null,
      walletAddress: null,
      surface,
      keyId: text(client) ?? accountId,
      keyVersion: 0,
      policyIds: policyIds(payload),
      scopes: [...new Set(read.flat() as string[])],
      issuedAt: (iat as number) * 1000,
      expiresAt: (exp as number) * 1000,
    }
  }
}
