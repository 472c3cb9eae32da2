import type { CallerIds, Credential, RequestFacts } from '@gatewright/http'
import { allow, type Rule, type Surface, type Verdict } from '@gatewright/kernel'
import type { Access, Guard, GuardFacts } from '@gatewright/scope-guard'
import type { ApiKey, Issuer } from '@gatewright/session-issuer'
import type { EntryLimits } from './limits.ts'
import { deny } from './codes.ts'
import { keySession, type KeySession } from './key-session.ts'

/** What proving a credential needs. */
export interface CredentialServices {
  readonly guard: Guard
  /** Decides uses of an API key where no session is asked for: the same policies and counters, limits of their own. */
  readonly keyGuard: Guard
  readonly issuer: Issuer
  readonly limits: EntryLimits
  readonly directUserKey: boolean
  /** Refuse requests that did not come by HTTPS, those for the host's own documents aside. */
  readonly requireHttps: boolean
  /** Whether a partner key may be used on this host. */
  readonly validated: (keyId: string) => Promise<boolean>
}

/** The credentials of the host, by the names that operations use. */
export type HostCredentials = {
  /** A session; where `DIRECT_USER_KEY` is on, also a user key in its place. */
  readonly session: Credential<Access>
  /** A session, for operations that read a user key by themselves. */
  readonly 'session-alone': Credential<Access>
  readonly 'user-key': Credential<ApiKey>
  readonly 'partner-key': Credential<ApiKey>
}

export const httpsRequired = deny('https_required', 'this API is served over HTTPS only')

/** Makes the credentials: only the one that an operation names is looked at, and none that came in the clear. */
export function hostCredentials(services: CredentialServices): HostCredentials {
  const { guard, requireHttps, directUserKey } = services
  const overHttps =
    <T>(check: Credential<T>['check']): Credential<T>['check'] =>
    async (facts, rule) =>
      requireHttps && !facts.secure ? httpsRequired : check(facts, rule)
  const bySession: Credential<Access>['check'] = async (facts, rule) =>
    directUserKey && rule.surface === 'user'
      ? orDirectKey(services, facts, rule)
      : guard.check(guardFacts(facts), rule)
  const user = byKey(services, 'user')
  const partner = byKey(services, 'partner')
  const ofSession: Pick<Credential<Access>, 'prepare' | 'headersOf' | 'idsOf'> = {
    prepare: rule => guard.prepare(rule),
    headersOf: ({ headers }) => headers,
    idsOf: ({ session: { accountId, keyId, sessionId } }) => ({ accountId, keyId, sessionId }),
  }
  return {
    session: { ...ofSession, check: overHttps(bySession) },
    'session-alone': {
      ...ofSession,
      check: overHttps((facts, rule) => guard.check(guardFacts(facts), rule)),
    },
    'user-key': { ...user, check: overHttps(user.check) },
    'partner-key': { ...partner, check: overHttps(validatedOnly(partner.check, services)) },
  }
}

/** A key in the field of its surface. */
function byKey(services: CredentialServices, side: Surface): Credential<ApiKey> {
  const { keyGuard } = services
  const field = `x-${side}-key`
  const rules = new Map<string, Rule>()
  // A key needs no scope to be exchanged or rotated (contract section 4).
  const ruleOf = ({ operation }: Rule): Rule => {
    const known = rules.get(operation)
    if (known) return known
    const rule = { operation, surface: side, allOf: [] }
    rules.set(operation, rule)
    return rule
  }
  return {
    present: ({ header }) => header(field) !== undefined,
    prepare: rule => keyGuard.prepare(ruleOf(rule)),
    async check(facts, rule) {
      const used = await usedKey(services, facts, facts.header(field), {
        side,
        by: keyGuard,
        rule: ruleOf(rule),
      })
      return used.ok ? allow(used.value.session.key) : used
    },
    idsOf: ({ accountId, id }): CallerIds => ({ accountId, keyId: id, sessionId: undefined }),
  }
}

/**
 * Authenticates a key; one that does not prove itself is charged to the client's address. Keys that are not known, of
 * an address that failed too often, are read few at a time, and only what overflows their queue gets 429.
 */
async function provenKey(
  { issuer, limits }: CredentialServices,
  { address }: RequestFacts,
  text: string | undefined,
  side: Surface,
): Promise<Verdict<ApiKey>> {
  const { admit, charge } = limits.failedKeys
  const key = await issuer.authenticateKey(text, side, read => admit(address, read))
  if (!key.ok && key.code === 'unauthorized' && text !== undefined) await charge(address)
  return key
}

/** How a presented key is judged. */
interface KeyRule {
  readonly side: Surface
  readonly by: Guard
  readonly rule: Rule
}

/**
 * The one way in for an API key, whatever it is used for: it proves itself, then a guard asks its whole policy chain
 * and counts the use. Denials: those of `authenticateKey` and of `Guard.authorize`.
 */
async function usedKey(
  services: CredentialServices,
  facts: RequestFacts,
  text: string | undefined,
  { side, by, rule }: KeyRule,
): Promise<Verdict<Access & { readonly session: KeySession }>> {
  const key = await provenKey(services, facts, text, side)
  if (!key.ok) return key
  const session = keySession(key.value)
  const access = await by.authorize(session, guardFacts(facts), rule)
  return access.ok ? allow({ ...access.value, session }) : access
}

function validatedOnly(
  check: Credential<ApiKey>['check'],
  { validated }: CredentialServices,
): Credential<ApiKey>['check'] {
  return async (facts, rule) => {
    const key = await check(facts, rule)
    if (!key.ok || (await validated(key.value.id))) return key
    return deny('key_not_validated', 'this partner key is not validated for production yet: ask the operator')
  }
}

const guardFacts = (facts: RequestFacts): GuardFacts => ({
  authorization: facts.header('authorization'),
  address: facts.address,
})

/**
 * `DIRECT_USER_KEY`: a user key in `X-User-Key`, or as the bearer, stands in for a session with all its rights. The guard
 * decides as if it had been exchanged a moment ago; both spellings at once and different are refused.
 */
async function orDirectKey(
  services: CredentialServices,
  facts: RequestFacts,
  rule: Rule,
): Promise<Verdict<Access>> {
  const { guard } = services
  const named = facts.header('x-user-key')
  const bearer = /^bearer (gw_.*)$/i.exec(facts.header('authorization') ?? '')?.[1]
  if (named === undefined && bearer === undefined) return guard.check(guardFacts(facts), rule)
  if (named !== undefined && bearer !== undefined && named !== bearer) {
    return deny('invalid_request', 'X-User-Key and Authorization hold different keys', {
      field: 'x-user-key',
    })
  }
  return usedKey(services, facts, named ?? bearer, { side: 'user', by: guard, rule })
}
