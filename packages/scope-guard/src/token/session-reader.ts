import { keyDigest, knownOptions, type Session, type Surface, type OptionNames } from '@gatewright/kernel'
import type { SessionReader } from './claims.ts'

/** The claims of another issuer's tokens that a session is read from. For a list of names, the first claim that is present counts. */
export interface ForeignClaims {
  /** The account, which counters and buckets belong to. Default `sub`. */
  readonly account?: string | readonly string[]
  /** The token's id. Default `jti`, `uti`; a token without one gets a digest of its claims. */
  readonly id?: string | readonly string[]
  /** The client that requested the token; limits with `per: 'key'` count it. Default `client_id`, `azp`, `appid`. */
  readonly client?: string | readonly string[]
  /**
   * Claims with scopes, each a space-separated string or an array of strings. All that are present count.
   * Default `scope`, `scp`, `permissions`.
   */
  readonly scopes?: readonly string[]
  /** The surface of such tokens. Default `user`. */
  readonly surface?: Surface
  /** Returns the ids of the policies of a token. Default: none. */
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

/** Reads the scopes of one claim; returns undefined if it is neither a string nor an array of strings. */
function scopesOf(value: unknown): string[] | undefined {
  if (value === undefined) return []
  const parts: unknown = typeof value === 'string' ? value.split(' ') : value
  if (!Array.isArray(parts) || !parts.every(part => typeof part === 'string')) return undefined
  return parts.filter(part => part !== '')
}

/**
 * Makes a reader of other issuers' tokens. The defaults fit Auth0 (`scope`, `permissions`) and Entra (`scp`); set
 * `typ: 'JWT'` on the guard for them. Such sessions have no key version, so a change of a key does not end them.
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
