import { keyDigest, type Session } from '@gatewright/kernel'
import { fromClaims, checkOptions, sessionDates, type Surface } from '@gatewright/kernel/internal'
import { hasOwnClaims, type Claims, type SessionReader } from './claims.ts'
import {
  COMMON,
  PRESET_NAMES,
  PRESETS,
  scopesIn,
  scopesOfBoth,
  type PresetName,
  type ScopeReader,
  type TokenPreset,
} from './presets.ts'

/** The claims of another issuer's tokens that a session is read from. For a list of names, the first claim that is present counts. */
export interface ForeignClaims {
  /**
   * The provider whose access tokens are read: `rfc9068`, `auth0`, `keycloak`, `entra`, `cognito`, `clerk` or `supabase`. It
   * chooses the defaults of the other options, and the guard's `typ`. Default: the claims that providers commonly use.
   */
  readonly preset?: PresetName
  /** The account, which counters and buckets belong to. Default `sub`. */
  readonly account?: string | readonly string[]
  /** The token's id. Default `jti`, `uti`; a token without one gets a digest of its claims. */
  readonly id?: string | readonly string[]
  /** The client that requested the token. Default `client_id`, `azp`, `appid`. */
  readonly client?: string | readonly string[]
  /**
   * What limits with `per: 'key'` count: each `subject` of each client by itself (default), or all tokens of a `client`
   * together.
   */
  readonly key?: 'subject' | 'client'
  /**
   * Claims with scopes, each a space-separated string or an array of strings. All that are present count. Default: those of the
   * preset; without a preset `scope` and `scp` of the client, and `permissions` of the user.
   */
  readonly scopes?: readonly string[]
  /**
   * Who must allow a scope, if a token has scopes of its client (`scope`, `scp`) and of its user (`permissions`, `roles`).
   * `both` (default): a scope counts if client and user have it. `either`: it counts if one of them has it; then `allOf` of
   * each rule must name the needed scopes of both. For the presets `auth0` and `entra` and without a preset; not with `scopes`.
   */
  readonly mustAllow?: 'both' | 'either'
  /** The surface of such tokens. Default `user`. */
  readonly surface?: Surface
  /** Returns the ids of the policies of a token. Required if the guard has the option `policies`. Default: none. */
  readonly policyIds?: (claims: Readonly<Record<string, unknown>>) => readonly string[]
}

const list = (names: string | readonly string[]): readonly string[] =>
  typeof names === 'string' ? [names] : names

/** Returns the first of some claims that is a non-empty string. */
function textOf(claims: Claims, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = claims[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

const escaped = (id: string): string => id.replaceAll('%', '%25').replaceAll('/', '%2F')

/**
 * Returns the key id for limits per key. It contains client and subject, so that the users of one application do not share a
 * bucket. A client that acts for itself (`sub` is its own id) has one bucket. Different pairs have different ids.
 */
function keyIdOf(client: string | undefined, subject: string): string {
  return client === undefined || client === subject
    ? escaped(subject)
    : `${escaped(client)}/${escaped(subject)}`
}

/** Chooses the reader of scopes. Throws a `TypeError` for `mustAllow` where it would have no effect. */
function scopeReaderOf({ preset: name, scopes, mustAllow }: ForeignClaims, preset: TokenPreset): ScopeReader {
  if (scopes && mustAllow)
    throw new TypeError(
      'sessionReader: mustAllow has no effect with scopes, because each claim of scopes counts: remove one of them',
    )
  if (scopes) return scopesIn(scopes)
  if (typeof preset.scopes !== 'function') {
    const { client, user } = preset.scopes
    return mustAllow === 'either' ? scopesIn([...client, ...user]) : scopesOfBoth(preset.scopes)
  }
  if (mustAllow)
    throw new TypeError(
      `sessionReader: mustAllow is for the presets auth0, entra and for no preset, got preset ${JSON.stringify(name)}: remove mustAllow`,
    )
  return preset.scopes
}

/**
 * Makes a reader of other issuers' access tokens. `preset` names the provider; a guard with the reader then accepts the `typ` of
 * that provider. Without a preset, the defaults read the claims that providers commonly use. Such sessions have no key
 * version, so a change of a key does not end them. A token with a claim of session-issuer (`gw_*`) is denied.
 * Throws a `TypeError` for a wrong option.
 */
export function sessionReader(given: ForeignClaims = {}): SessionReader {
  const claims = checkOptions('sessionReader', given, {
    preset: { is: PRESET_NAMES, default: undefined },
    account: true,
    id: true,
    client: true,
    key: { is: ['subject', 'client'], default: 'subject' },
    scopes: true,
    mustAllow: { is: ['both', 'either'], default: undefined },
    surface: { is: ['user', 'partner'], default: 'user' },
    policyIds: { default: () => [] },
  })
  const { key, surface, policyIds } = claims
  const preset = claims.preset === undefined ? COMMON : PRESETS[claims.preset]
  const account = list(claims.account ?? 'sub')
  const id = list(claims.id ?? preset.id)
  const client = list(claims.client ?? preset.client)
  const scopesOf = scopeReaderOf(claims, preset)
  const read = (payload: Claims): Session | undefined => {
    if (hasOwnClaims(payload) || preset.accepts?.(payload) === false) return undefined
    const dates = sessionDates(payload)
    const accountId = textOf(payload, account)
    const scopes = scopesOf(payload)
    if (accountId === undefined || scopes === undefined || dates === undefined) return undefined
    const clientId = textOf(payload, client)
    const subject = textOf(payload, ['sub']) ?? accountId
    return {
      sessionId: textOf(payload, id) ?? keyDigest(JSON.stringify(payload)),
      accountId,
      userId: null,
      walletAddress: null,
      surface,
      keyId: key === 'client' ? (clientId ?? subject) : keyIdOf(clientId, subject),
      keyVersion: 0,
      policyIds: policyIds(payload),
      scopes,
      ...dates,
    }
  }
  return Object.assign(read, {
    types: preset.types,
    audienceClaim: preset.audienceClaim,
    namesPolicies: given.policyIds !== undefined,
  })
}

const readRfc9068 = sessionReader({ preset: 'rfc9068' })

/**
 * The default reader of a guard. A token with a claim of session-issuer (`gw_*`) is read as its token, with all of its claims,
 * or denied. Any other token is read as an access token of RFC 9068.
 */
export const readAccessToken: SessionReader = claims =>
  hasOwnClaims(claims) ? fromClaims(claims) : readRfc9068(claims)
