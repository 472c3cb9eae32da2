import { allow, type Verdict, type HeaderField } from '@gatewright/kernel'
import type { CallerIds } from './decision.ts'
import type { RequestFacts } from './facts.ts'
import type { AccessLike, Credential, CredentialPart, GuardedRule, GuardPart } from './parts.ts'

/** A credential that was proven. */
export interface Proven {
  /** Its name; undefined where the operation asks for none. */
  readonly credential: string | undefined
  readonly caller: unknown
  readonly headers: readonly HeaderField[]
  readonly ids?: CallerIds
}

/** Proves the credential of a request. */
export type Authenticate = (facts: RequestFacts) => Promise<Verdict<Proven>>

const NOBODY = allow<Proven>({ credential: undefined, caller: undefined, headers: [] })

/** For operations that anyone may call. */
export const nobody: Authenticate = async () => NOBODY

/** The session, as a guard decides about it. */
export function sessionCredential(guard: GuardPart<AccessLike>): CredentialPart<AccessLike> {
  return {
    async check({ header, address }, rule) {
      const authorization = header('authorization')
      return guard.check(address === '' ? { authorization } : { authorization, address }, rule)
    },
    prepare: rule => guard.prepare(rule),
    headersOf: ({ headers }) => headers,
    idsOf: ({ session }) => {
      const { accountId, keyId, sessionId } = session
      return { accountId, keyId, sessionId }
    },
  }
}

/**
 * Reads the credentials that a route names, in their order: the first that the request carries decides, and the last one where
 * it carries none. Throws a `TypeError` for a name that is not declared, and for one before the last without `present`.
 */
export function authenticator(
  declared: Readonly<Record<string, Credential<never>>>,
  names: readonly string[],
  rule: GuardedRule,
): Authenticate {
  const parts = names.map((name, at) => {
    const given = Object.hasOwn(declared, name) ? declared[name] : undefined
    const part = (typeof given === 'function' ? { check: given } : given) as
      | CredentialPart<unknown>
      | undefined
    if (typeof part?.check !== 'function')
      throw new TypeError(`${rule.operation}: the gate has no credential ${JSON.stringify(name)}`)
    if (at < names.length - 1 && !part.present)
      throw new TypeError(
        `${rule.operation}: the credential ${name} needs present(), since another comes after it`,
      )
    part.prepare?.(rule)
    return { name, part }
  })
  const last = parts.at(-1)
  if (!last) throw new TypeError(`${rule.operation}: name the credential that it takes`)
  return async facts => {
    const { name, part } = parts.find(each => each.part.present?.(facts)) ?? last
    const proven = await part.check(facts, rule)
    if (!proven.ok) return proven
    const caller = proven.value
    const ids = part.idsOf?.(caller)
    return allow({
      credential: name,
      caller,
      headers: part.headersOf?.(caller) ?? [],
      ...(ids ? { ids } : {}),
    })
  }
}
