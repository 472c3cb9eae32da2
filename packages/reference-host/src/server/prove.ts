import { allow, type Surface, type Verdict } from '@gatewright/kernel'
import type { RequestFacts } from '@gatewright/http/koa'
import type { Access, Guard, GuardFacts, Rule } from '@gatewright/scope-guard'
import type { ApiKey, Issuer } from '@gatewright/session-issuer'
import type { EntryLimits } from '../limits.ts'
import { deny } from './codes.ts'
import { keySession, type KeySession } from './key-session.ts'
import type { Callers, Operation } from './operation.ts'

/** What proving a credential needs. */
export interface ProveServices {
  readonly guard: Guard
  /** Decides uses of an API key where no session is asked for: the same policies and counters, limits of their own. */
  readonly keyGuard: Guard
  readonly issuer: Issuer
  readonly limits: EntryLimits
  readonly directUserKey: boolean
  /** Whether a partner key may be used on this host. */
  readonly validated: (keyId: string) => Promise<boolean>
}

/** Proves the credential of a request. */
export type Prove = (facts: RequestFacts) => Promise<Verdict<Callers[keyof Callers]>>

/** Compiles how an operation's callers prove themselves: only the credential that its rule names is looked at. */
export function prover(operation: Operation, services: ProveServices): Prove {
  const { guard, keyGuard, directUserKey } = services
  const { id, credential, surface } = operation
  if (credential === 'none') return async () => allow(undefined)
  const byKey = (side: Surface): Prove => {
    // A key needs no scope to be exchanged or rotated (contract section 4).
    const rule: Rule = { operation: id, surface: side, allOf: [] }
    keyGuard.prepare(rule)
    return async facts => {
      const used = await usedKey(services, facts, facts.header(`x-${side}-key`), { side, by: keyGuard, rule })
      return used.ok ? allow(used.value.session.key) : used
    }
  }
  if (credential === 'user-key') return byKey('user')
  if (credential === 'partner-key') return validatedOnly(byKey('partner'), services)

  const rule = ruleOf(operation)
  guard.prepare(rule)
  const bySession: Prove = async facts => guard.check(guardFacts(facts), rule)
  if (credential === 'user-key-or-session') {
    const byUserKey = byKey('user')
    return facts => (facts.header('x-user-key') === undefined ? bySession(facts) : byUserKey(facts))
  }
  return directUserKey && surface === 'user' ? orDirectKey(bySession, rule, services) : bySession
}

/**
 * Authenticates a key; one that does not prove itself is charged to the client's address. Keys that are not known, of
 * an address that failed too often, are read few at a time, and only what overflows their queue gets 429.
 */
async function provenKey(
  { issuer, limits }: ProveServices,
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
  services: ProveServices,
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

function validatedOnly(prove: Prove, { validated }: ProveServices): Prove {
  return async facts => {
    const key = await prove(facts)
    if (!key.ok || (await validated((key.value as ApiKey).id))) return key
    return deny('key_not_validated', 'this partner key is not validated for production yet: ask the operator')
  }
}

const guardFacts = (facts: RequestFacts): GuardFacts => ({
  authorization: facts.header('authorization'),
  address: facts.address,
})

function ruleOf(operation: Operation): Rule {
  const { id, surface, scopes, method } = operation
  if (!scopes) throw new TypeError(`${id}: name its scopes, or write scopes: [] where a session needs none`)
  return {
    operation: id,
    allOf: scopes,
    ...(surface === 'public' ? {} : { surface }),
    ...(method === 'GET' ? {} : { limit: 'write' }),
    ...('write' in operation && operation.spends ? { spends: 'spend' } : {}),
  }
}

/**
 * `DIRECT_USER_KEY`: a user key in `X-User-Key`, or as the bearer, stands in for a session with all its rights. The guard
 * decides as if it had been exchanged a moment ago; both spellings at once and different are refused.
 */
function orDirectKey(bySession: Prove, rule: Rule, services: ProveServices): Prove {
  return async facts => {
    const named = facts.header('x-user-key')
    const bearer = /^bearer (gw_.*)$/i.exec(facts.header('authorization') ?? '')?.[1]
    if (named === undefined && bearer === undefined) return bySession(facts)
    if (named !== undefined && bearer !== undefined && named !== bearer) {
      return deny('invalid_request', 'X-User-Key and Authorization hold different keys', {
        field: 'x-user-key',
      })
    }
    return usedKey(services, facts, named ?? bearer, { side: 'user', by: services.guard, rule })
  }
}
