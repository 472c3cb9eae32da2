import { allow, type Rule, type Session, type Verdict } from '@gatewright/kernel'
import type { AccessLike, Credential, Credentials, GuardFactsLike, GuardPort } from '../ports.ts'
import type { RequestFacts } from '../request/facts.ts'
import type { Authentication, RequestContext } from './request-context.ts'

/** Verifies the credential of a request. */
export type Authenticate = (facts: RequestFacts) => Promise<Verdict<Authentication>>

const ANONYMOUS = allow<Authentication>({
  credential: undefined,
  caller: undefined,
  headers: [],
  ids: undefined,
  recheck: undefined,
})

/** Accepts every request, for operations that anyone may call. */
export const anonymous: Authenticate = async () => ANONYMOUS

/** The facts of requests with a DPoP proof. A guard claims a proof once for one object. */
const proven = new WeakMap<RequestFacts, GuardFactsLike>()

/** Returns what a guard gets of a request: the same object each time, if the request has a DPoP proof. */
function guardFacts(facts: RequestFacts): GuardFactsLike {
  const { header, address, method, path, receivedPath: url = path } = facts
  const authorization = header('authorization')
  const dpop = header('dpop')
  const credential = address === '' ? { authorization } : { authorization, address }
  if (dpop === undefined) return credential
  const made = proven.get(facts) ?? { dpop, method, url, ...credential }
  proven.set(facts, made)
  return made
}

/**
 * Returns the session of a request: that which a guard of the same request has accepted, else that of its credential. Denials and
 * faults: those of the guard's `authenticate`. Throws a `TypeError` for a gate whose guard cannot authenticate without a rule.
 */
export async function sessionOf(
  guard: GuardPort<AccessLike> | undefined,
  context: RequestContext,
): Promise<Verdict<Session>> {
  if (typeof guard?.authenticate !== 'function')
    throw new TypeError('session(request) needs the option guard, with the function authenticate')
  const known = context.session
  if (known) return known instanceof Promise ? known : allow(known)
  const verdict = guard.authenticate(guardFacts(context.facts))
  context.session = verdict
  // A store that was down may be up for the next call.
  verdict.catch(() => (context.session = undefined))
  return verdict
}

/** Makes the credential `session`, which the guard verifies. */
export function sessionCredential(guard: GuardPort<AccessLike>): Credential<AccessLike> {
  const recheck: Credential<AccessLike>['recheck'] = async (access, { address }) =>
    guard.recheck?.(access, address === '' ? {} : { address }) ?? allow(access)
  return {
    ...(guard.recheck ? { recheck } : {}),
    check: async (facts, rule) => guard.check(guardFacts(facts), rule),
    prepare: rule => guard.prepare(rule),
    headersOf: ({ headers }) => headers,
    idsOf: ({ session, evidence }) => {
      const { accountId, keyId, sessionId } = session
      return { accountId, keyId, sessionId, policyRevision: evidence?.policyRevision }
    },
  }
}

/**
 * Makes the authentication of a route. Of the credentials that the route names, it verifies the first that the request
 * carries, or the last if it carries none. Throws a `TypeError` for a name that is not declared, and for a credential
 * before the last without `present`.
 */
export function authenticator(declared: Credentials, names: readonly string[], rule: Rule): Authenticate {
  const credentials = names.map((name, index) => {
    const given = Object.hasOwn(declared, name) ? declared[name] : undefined
    const credential: Credential<unknown> | undefined = typeof given === 'function' ? { check: given } : given
    if (typeof credential?.check !== 'function')
      throw new TypeError(
        `${rule.operation}: the gate has no credential ${JSON.stringify(name)}: declare it in credentials`,
      )
    if (index < names.length - 1 && !credential.present)
      throw new TypeError(
        `${rule.operation}: the credential ${name} must have present(), since another credential follows it`,
      )
    credential.prepare?.(rule)
    return { name, credential }
  })
  const last = credentials.at(-1)
  if (!last) throw new TypeError(`${rule.operation}: name at least one credential`)
  return async facts => {
    const { name, credential } = credentials.find(candidate => candidate.credential.present?.(facts)) ?? last
    const verified = await credential.check(facts, rule)
    if (!verified.ok) return verified
    const caller = verified.value
    return allow({
      credential: name,
      caller,
      headers: credential.headersOf?.(caller) ?? [],
      ids: credential.idsOf?.(caller),
      recheck: credential.recheck && (async () => credential.recheck?.(caller, facts) ?? verified),
    })
  }
}
