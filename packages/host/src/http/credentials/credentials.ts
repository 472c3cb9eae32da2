import type { Credential, RequestFacts } from '@gatewright/http'
import type { CallerIds } from '@gatewright/http/internal'
import { allow, type Session, type Verdict, type Rule } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import type { Access, Guard } from '@gatewright/scope-guard'
import { malformedCredential, type GuardDenial, type GuardFacts } from '@gatewright/scope-guard/internal'
import type { ApiKey, Issuer } from '@gatewright/session-issuer'
import { keyPaused } from '@gatewright/session-issuer/internal'
import { deny } from '../codes.ts'
import { keySession, type KeySession } from './key-session.ts'
import type { EntryLimits } from './limits.ts'
import { bearerWebToken, type WebCaller, type WebTokens } from './web-session.ts'

/** The services that authentication uses. */
export interface CredentialServices {
  readonly guard: Guard
  /**
   * Authorises uses of an API key that need no session: the same policies and spend counters, separate rate
   * limits.
   */
  readonly keyGuard: Guard
  readonly issuer: Issuer
  readonly limits: EntryLimits
  readonly directUserKey: boolean
  /** Whether requests without HTTPS are denied. The host's own documents are exempt. */
  readonly requireHttps: boolean
  readonly webTokens: Pick<WebTokens, 'authenticate'>
  /** Whether this host accepts a partner key. */
  readonly validated: (keyId: string) => Promise<boolean>
  /** Whether a key, or one above it, is paused. Read for sessions that have ended. */
  readonly isPaused: (keyId: string) => Promise<boolean>
  /** Whether a key is held since a restore. An answer may be as old as `cacheMs`. */
  readonly isHeld: (keyId: string, cacheMs: number) => Promise<boolean>
}

/** The credentials of the host, by the name that operations give. */
export type HostCredentials = {
  /** A session. With `DIRECT_USER_KEY`, also a user key in its place. */
  readonly session: Credential<Access>
  /** A session only, for operations that accept a user key as a separate credential. */
  readonly 'session-alone': Credential<Access>
  readonly 'user-key': Credential<ApiKey>
  readonly 'web-token': Credential<WebCaller>
  readonly 'partner-key': Credential<ApiKey>
}

export const httpsRequired = deny('https_required', 'this API is served over HTTPS only')
const heldKey = deny(
  'key_held',
  'this key is held, because it may have been revoked before the data of this host was restored: ask the operator, or sign in with the wallet and rotate this key or create a new one',
)
const changedKey = deny('unauthorized', 'the API key was changed during the request: repeat it')

/**
 * Creates the credentials. Only those that an operation names are read. With `requireHttps`, none is read from a request
 * without HTTPS.
 */
export function hostCredentials(services: CredentialServices): HostCredentials {
  const { guard, requireHttps, directUserKey } = services
  const namingPause = pauseNamer(services)
  const onlyOverHttps =
    <T>(check: Credential<T>['check']): Credential<T>['check'] =>
    async (facts, rule) =>
      requireHttps && !facts.secure ? httpsRequired : check(facts, rule)
  const checkSessionAlone: Credential<Access>['check'] = async (facts, rule) =>
    namingMistakes(await namingPause(await guard.check(guardFacts(facts), rule)), facts)
  const checkSession: Credential<Access>['check'] = async (facts, rule) =>
    directUserKey && rule.surface === 'user'
      ? checkSessionOrUserKey(services, facts, rule)
      : checkSessionAlone(facts, rule)
  const user = keyCredential(services, 'user')
  const partner = keyCredential(services, 'partner')
  const sessionParts: Pick<Credential<Access>, 'prepare' | 'recheck' | 'headersOf' | 'idsOf'> = {
    prepare: rule => guard.prepare(rule),
    recheck: async (access, facts) => namingPause(await guard.recheck(access, guardFacts(facts))),
    headersOf: ({ headers }) => headers,
    idsOf: ({ session: { accountId, keyId, sessionId }, evidence: { policyRevision } }) => ({
      accountId,
      keyId,
      sessionId,
      policyRevision,
    }),
  }
  return {
    session: { ...sessionParts, check: onlyOverHttps(checkSession) },
    'session-alone': {
      ...sessionParts,
      check: onlyOverHttps(checkSessionAlone),
    },
    'web-token': webTokenCredential(services.webTokens, onlyOverHttps),
    'user-key': { ...user, check: onlyOverHttps(user.check) },
    'partner-key': { ...partner, check: onlyOverHttps(onlyValidated(partner.check, services)) },
  }
}

/**
 * The web token as bearer token. Only operations that name this credential accept it. Their handlers use the token up, so it
 * needs no `recheck`.
 */
function webTokenCredential(
  webTokens: Pick<WebTokens, 'authenticate'>,
  onlyOverHttps: (check: Credential<WebCaller>['check']) => Credential<WebCaller>['check'],
): Credential<WebCaller> {
  const tokenOf = ({ header }: RequestFacts): string | undefined => bearerWebToken(header('authorization'))
  return {
    present: facts => tokenOf(facts) !== undefined,
    check: onlyOverHttps(
      async facts =>
        malformedCredential(facts.header('authorization')) ?? webTokens.authenticate(tokenOf(facts) ?? ''),
    ),
    idsOf: ({ webSession: { accountId, sessionId } }) => ({ accountId, keyId: undefined, sessionId }),
  }
}

/**
 * Makes the function that finds the caller of a message before its operation is known: the session, or with `DIRECT_USER_KEY` a user key as
 * bearer token. It counts failures only: the operation counts the call.
 */
export function callerFinder(services: CredentialServices): (facts: GuardFacts) => Promise<Verdict<Session>> {
  const namingPause = pauseNamer(services)
  return async facts => {
    const { authorization, address } = facts
    const direct = services.directUserKey ? bearerKey(authorization) : undefined
    if (direct === undefined) {
      const header = (name: string): string | undefined =>
        name === 'authorization' ? authorization : undefined
      return namingMistakes(await namingPause(await services.guard.authenticate(facts)), { header })
    }
    const use = { surface: 'user', cacheMs: DIRECT_KEY_CACHE_MS } as const
    const key = await authenticateKey(services, { address: address ?? '' }, direct, use)
    return key.ok ? allow(keySession(key.value)) : key
  }
}

/** Returns the API key that a request has as bearer token. */
const bearerKey = (authorization: string | undefined): string | undefined =>
  /^bearer +(gw_[^\s,]*)$/i.exec(authorization ?? '')?.[1]

/** An API key in the header field of its surface. */
function keyCredential(services: CredentialServices, surface: Surface): Credential<ApiKey> {
  const { keyGuard } = services
  const field = `x-${surface}-key`
  const rules = new Map<string, Rule>()
  // The holder of a key may exchange and rotate it: neither needs a scope.
  const ruleOf = ({ operation }: Rule): Rule => {
    const known = rules.get(operation)
    if (known) return known
    const rule = { operation, surface, allOf: [] }
    rules.set(operation, rule)
    return rule
  }
  return {
    present: ({ header }) => header(field) !== undefined,
    prepare: rule => keyGuard.prepare(ruleOf(rule)),
    async check(facts, rule) {
      const used = await authorizeKeyUse(services, facts, facts.header(field), {
        surface,
        by: keyGuard,
        rule: ruleOf(rule),
      })
      return used.ok ? allow(used.value.session.key) : used
    },
    // No limit counts it, because the check has already counted this use of the key.
    async recheck({ version }, { header }) {
      const key = await services.issuer.authenticateKey(header(field), surface)
      return !key.ok || key.value.version === version ? key : changedKey
    },
    idsOf: ({ accountId, id }): CallerIds => ({ accountId, keyId: id, sessionId: undefined }),
  }
}

/** Where a key is presented, and for how long one that was read is trusted: not at all where it is exchanged. */
interface KeyUse {
  readonly surface: Surface
  readonly cacheMs?: number
}

/** A key in place of a session comes with every request. As long as a revocation of a session takes, a revoked key may work. */
const DIRECT_KEY_CACHE_MS = 1000

/**
 * Authenticates a key. A failure counts against the client's address. For an address with too many failures, keys that are not
 * cached are read through a bounded queue, and only requests that do not fit into it get 429.
 */
async function authenticateKey(
  { issuer, limits, isHeld }: CredentialServices,
  { address }: Pick<RequestFacts, 'address'>,
  text: string | undefined,
  { surface, cacheMs = 0 }: KeyUse,
): Promise<Verdict<ApiKey>> {
  const { runWithinLimit, charge } = limits.failedKeys
  const key = await issuer.authenticateKey(text, surface, {
    limitRead: read => runWithinLimit(address, read),
    cacheMs,
  })
  if (!key.ok && key.code === 'unauthorized' && text !== undefined) await charge(address)
  if (key.ok && (await isHeld(key.value.id, cacheMs))) return heldKey
  return key
}

/**
 * Authenticates and authorises every use of an API key: the guard checks its whole policy chain and counts
 * the use. Denials: those of `authenticateKey` and of `Guard.authorize`.
 */
async function authorizeKeyUse(
  services: CredentialServices,
  facts: RequestFacts,
  text: string | undefined,
  use: KeyUse & { readonly by: Guard; readonly rule: Rule },
): Promise<Verdict<Access & { readonly session: KeySession }>> {
  const key = await authenticateKey(services, facts, text, use)
  if (!key.ok) return key
  const session = keySession(key.value)
  const access = await use.by.authorize(session, guardFacts(facts), use.rule)
  return access.ok ? allow({ ...access.value, session }) : access
}

function onlyValidated(
  check: Credential<ApiKey>['check'],
  { validated }: CredentialServices,
): Credential<ApiKey>['check'] {
  return async (facts, rule) => {
    const key = await check(facts, rule)
    if (!key.ok || (await validated(key.value.id))) return key
    return deny('key_not_validated', 'this partner key is not validated for production yet: ask the operator')
  }
}

/**
 * Says in the denial of a missing or wrong session token how to get one, or that the request has an API key in its place. It recognises
 * the form of a key and does not say whether the key is valid.
 */
function namingMistakes<T>(verdict: Verdict<T>, { header }: Pick<RequestFacts, 'header'>): Verdict<T> {
  if (verdict.ok || (verdict.code !== 'unauthorized' && verdict.code !== 'session_expired')) return verdict
  const authorization = header('authorization')
  const [, surface] = /^bearer +gw_(?:live|sandbox)_(user|partner)_/i.exec(authorization ?? '') ?? []
  if (surface !== undefined) return { ...verdict, message: keyAsToken(surface.toLowerCase()) }
  const withRemedy = { ...verdict, message: `${verdict.message}. ${NEW_SESSION}` }
  if (authorization !== undefined) return withRemedy
  if (header('x-partner-key') !== undefined)
    return { ...verdict, message: `This operation takes a session token. ${EXCHANGE.partner}` }
  if (header('x-user-key') !== undefined)
    return { ...verdict, message: `This operation takes a session token. ${EXCHANGE.user}` }
  return withRemedy
}

/** Makes the function that says in the denial of a session whose key is paused why it has ended: a new one would be denied, too. */
function pauseNamer({
  isPaused,
}: Pick<CredentialServices, 'isPaused'>): <T>(verdict: Verdict<T, GuardDenial>) => Promise<Verdict<T>> {
  return async verdict => {
    if (verdict.ok || verdict.code !== 'unauthorized' || verdict.evidence === undefined) return verdict
    const { evidence } = verdict
    return (await isPaused(evidence.keyId)) ? { ...keyPaused, evidence } : verdict
  }
}

/** A session is a user's or one that a partner created, and a token that is not valid does not say which. */
const NEW_SESSION =
  'POST /user/v1/sessions with X-User-Key returns one, or POST /partner/v1/sessions with X-Partner-Key.'

const EXCHANGE = {
  user: 'Send the user key as X-User-Key to POST /user/v1/sessions, which returns one.',
  partner:
    'A partner key belongs to /partner/v1: send it as X-Partner-Key to POST /partner/v1/sessions, which returns one.',
} as const

const keyAsToken = (surface: string): string =>
  `This is an API key, not a session token. ${EXCHANGE[surface as keyof typeof EXCHANGE]}`

const guardFacts = (facts: RequestFacts): GuardFacts => ({
  authorization: facts.header('authorization'),
  address: facts.address,
})

/**
 * With `DIRECT_USER_KEY`, accepts a user key in `X-User-Key` or as the bearer token in place of a session,
 * with all rights of the key. The guard decides as for a session just minted from it. Two different keys are
 * denied.
 */
async function checkSessionOrUserKey(
  services: CredentialServices,
  facts: RequestFacts,
  rule: Rule,
): Promise<Verdict<Access>> {
  const { guard } = services
  const named = facts.header('x-user-key')
  const bearer = bearerKey(facts.header('authorization'))
  if (named === undefined && bearer === undefined)
    return namingMistakes(await pauseNamer(services)(await guard.check(guardFacts(facts), rule)), facts)
  if (named !== undefined && bearer !== undefined && named !== bearer) {
    return deny('invalid_request', 'X-User-Key and Authorization hold different keys', {
      field: 'x-user-key',
    })
  }
  const use = { surface: 'user', cacheMs: DIRECT_KEY_CACHE_MS, by: guard, rule } as const
  return authorizeKeyUse(services, facts, named ?? bearer, use)
}
