import type { Claims } from './claims.ts'

/** Reads the scopes of a token from its claims; returns undefined if a claim is malformed. */
export type ScopeReader = (claims: Claims) => readonly string[] | undefined

/**
 * The names of the claims that say what a client may do (`scope`), and of those that say what its user may do (`permissions`,
 * `roles`).
 */
interface ClientAndUser {
  readonly client: readonly string[]
  readonly user: readonly string[]
}

/** The form of the access tokens of one provider. Sources of the claims: test/scope-guard/token/presets.test.ts. */
export interface TokenPreset {
  /** The `typ` headers of its access tokens; undefined for a header without `typ`. */
  readonly types: readonly (string | undefined)[]
  /** The claim that names the audience in tokens without `aud`. */
  readonly audienceClaim?: string
  readonly id: readonly string[]
  readonly client: readonly string[]
  /** Reads the scopes; or the claims of client and user, if the provider writes both. */
  readonly scopes: ScopeReader | ClientAndUser
  /** Decides whether the claims are those of an access token. Default: they are. */
  readonly accepts?: (claims: Claims) => boolean
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Returns an object claim; an empty object if it is absent, undefined if it is not an object. */
function objectOf(value: unknown): Claims | undefined {
  if (value === undefined) return {}
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : undefined
}

/** Reads the names in one claim, a space-separated string or an array of strings; undefined for anything else. */
function namesOf(value: unknown): readonly string[] | undefined {
  if (value === undefined) return []
  const parts: unknown = typeof value === 'string' ? value.split(' ') : value
  if (!Array.isArray(parts) || !parts.every(part => typeof part === 'string')) return undefined
  return parts.filter(part => part !== '')
}

/** Joins lists of names without repeats; undefined if a list is undefined. */
function joined(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  return lists.includes(undefined) ? undefined : [...new Set(lists.flat() as string[])]
}

/** Makes a reader that collects the scopes of all these claims that are present. */
export function scopesIn(names: readonly string[]): ScopeReader {
  return claims => joined(names.map(name => namesOf(claims[name])))
}

/**
 * Makes the reader of the scopes that client and user both have. A client must not do more than its user allowed, and a user
 * not more than the client may do. A side without any of its claims does not restrict the other: some tokens have no user, and
 * some issuers name no client. An empty claim counts as present: that side may do nothing.
 */
export function scopesOfBoth({ client, user }: ClientAndUser): ScopeReader {
  const [readClient, readUser] = [scopesIn(client), scopesIn(user)]
  return claims => {
    const [ofClient, ofUser] = [readClient(claims), readUser(claims)]
    if (!ofClient || !ofUser) return undefined
    if (!hasAny(claims, client)) return ofUser
    if (!hasAny(claims, user)) return ofClient
    const allowed = new Set(ofUser)
    return ofClient.filter(scope => allowed.has(scope))
  }
}

const hasAny = (claims: Claims, names: readonly string[]): boolean =>
  names.some(name => claims[name] !== undefined)

const prefixed = (prefix: string, names: readonly string[] | undefined): readonly string[] | undefined =>
  names?.map(name => `${prefix}:${name}`)

/**
 * Reads scopes and roles of Keycloak, named as its adapters name them: `realm:ROLE` and `CLIENT:ROLE`. Roles of clients with a
 * colon in their id, or with the id `realm`, are left out: they could be mistaken for other roles.
 */
function keycloakScopes({ scope, realm_access, resource_access }: Claims): readonly string[] | undefined {
  const clients = objectOf(resource_access)
  if (!clients) return undefined
  const roles = (access: unknown): readonly string[] | undefined => namesOf(objectOf(access)?.['roles'] ?? [])
  const named = Object.entries(clients).filter(([client]) => client !== 'realm' && !client.includes(':'))
  return joined([
    namesOf(scope),
    prefixed('realm', roles(realm_access)),
    ...named.map(([client, access]) => prefixed(client, roles(access))),
  ])
}

const list = (value: unknown): string[] => (isText(value) ? value.split(',').map(part => part.trim()) : [])

/**
 * Reads the permissions of the active organization of a Clerk session, as `org:FEATURE:PERMISSION`. Version 2 has them as one
 * bit mask per feature of the organization (`o.fpm`) over the permissions in `o.per`; version 1 has `org_permissions`.
 */
function clerkScopes({ v, o, fea, org_permissions }: Claims): readonly string[] | undefined {
  if (v !== 2) return namesOf(org_permissions)
  const organization = objectOf(o)
  if (!organization) return undefined
  const permissions = list(organization['per'])
  const features = list(fea).flatMap(feature => {
    const [owners = '', name] = feature.split(':')
    return owners.includes('o') && name ? [name] : []
  })
  return list(organization['fpm']).flatMap((mask, index) => {
    const feature = features[index]
    if (feature === undefined || !/^\d+$/.test(mask)) return []
    const granted = permissions.filter((_, bit) => (BigInt(mask) >> BigInt(bit)) & 1n)
    return granted.map(permission => `org:${feature}:${permission}`)
  })
}

/** Reads the role of Supabase as a scope: `role:authenticated`, or `role:anonymous` for an anonymous sign-in. */
function supabaseScopes({ role, is_anonymous }: Claims): readonly string[] | undefined {
  if (!isText(role)) return undefined
  return [is_anonymous === true ? 'role:anonymous' : `role:${role}`]
}

const CLIENT = ['client_id', 'azp', 'appid'] as const

/** The name of a preset: the provider, or the RFC that its tokens follow. */
export type PresetName = 'rfc9068' | 'auth0' | 'keycloak' | 'entra' | 'cognito' | 'clerk' | 'supabase'

/** The presets of `sessionReader`, by name. */
export const PRESETS: Readonly<Record<PresetName, TokenPreset>> = {
  rfc9068: {
    types: ['at+jwt'],
    id: ['jti'],
    client: ['client_id'],
    scopes: scopesIn(['scope']),
    // RFC 9068 section 2.2 requires these claims.
    accepts: ({ sub, client_id, jti }) => isText(sub) && isText(client_id) && isText(jti),
  },
  auth0: {
    types: ['JWT', 'at+jwt'],
    id: ['jti'],
    client: CLIENT,
    scopes: { client: ['scope'], user: ['permissions'] },
  },
  keycloak: {
    types: ['JWT', 'at+jwt'],
    id: ['jti'],
    client: CLIENT,
    scopes: keycloakScopes,
    // ID tokens and refresh tokens say `ID` and `Refresh`.
    accepts: ({ typ }) => typ === 'Bearer' || typ === 'DPoP',
  },
  entra: {
    types: ['JWT'],
    id: ['uti', 'jti'],
    client: CLIENT,
    scopes: { client: ['scp'], user: ['roles'] },
    // ID tokens may name the same audience, and name no client.
    accepts: ({ azp, appid }) => isText(azp) || isText(appid),
  },
  cognito: {
    types: [undefined, 'JWT'],
    audienceClaim: 'client_id',
    id: ['jti'],
    client: CLIENT,
    scopes: claims =>
      joined([namesOf(claims['scope']), prefixed('group', namesOf(claims['cognito:groups']))]),
    accepts: ({ token_use }) => token_use === 'access',
  },
  clerk: {
    types: ['JWT'],
    audienceClaim: 'azp',
    id: ['sid'],
    client: ['azp'],
    scopes: clerkScopes,
    // A pending session has not completed its tasks; Clerk's own libraries treat its user as signed out.
    accepts: ({ sid, sts }) => isText(sid) && sts !== 'pending',
  },
  supabase: {
    types: ['JWT'],
    id: ['session_id'],
    client: ['client_id'],
    scopes: supabaseScopes,
    accepts: ({ session_id }) => isText(session_id),
  },
}

/** The names of the presets, for the check of an option. */
export const PRESET_NAMES = Object.keys(PRESETS) as readonly PresetName[]

/** The preset for readers without the option `preset`: the claims that providers commonly use. */
export const COMMON: TokenPreset = {
  types: ['at+jwt'],
  id: ['jti', 'uti'],
  client: CLIENT,
  scopes: { client: ['scope', 'scp'], user: ['permissions'] },
}
