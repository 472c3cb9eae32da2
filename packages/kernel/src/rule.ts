import { isScope } from './scope.ts'
import type { Surface } from './session.ts'

interface RuleMembers {
  /** The operation's canonical id, `tag.verb`. Policies, limits, idempotency records and reports use it. */
  readonly operation: string
  /** The only surface whose sessions may call the operation. Absent: both. */
  readonly surface?: Surface
  /** The class of the operation, for rate limits per class. */
  readonly limit?: string
  /** How the operation moves money. It must call `reserve` before it takes effect. */
  readonly spends?: 'spend' | 'withdrawal'
  /** Whether the response reveals card secrets (policy `allowCardSecrets`). */
  readonly cardSecrets?: boolean
}

/**
 * What an operation requires of a request. The session must have all scopes of `allOf` and one of `anyOf`; at least one of
 * the two must be given, and `allOf: []` says that no scope is needed. Declare each rule once, at start-up, and pass the
 * same object every time. `S`: the scopes that it may name.
 */
export type Rule<S extends string = string> = RuleMembers &
  (
    | { readonly allOf?: readonly S[]; readonly anyOf: readonly S[] }
    | { readonly allOf: readonly S[]; readonly anyOf?: readonly S[] }
  )

type Member = keyof RuleMembers | 'allOf' | 'anyOf'

const OPERATION = /^[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+$/

/** Checks the value of each member: returns what is wrong, or undefined. */
const MEMBERS: Readonly<Record<Member, (value: unknown) => string | undefined>> = {
  operation: value =>
    typeof value === 'string' && OPERATION.test(value)
      ? undefined
      : `must be "tag.verb", not ${JSON.stringify(value)}`,
  surface: oneOf('user', 'partner'),
  allOf: scopeList,
  anyOf: value =>
    scopeList(value) ?? ((value as []).length === 0 ? 'must name at least one scope' : undefined),
  limit: value =>
    typeof value === 'string' && value !== '' ? undefined : 'must be the name of a rate-limit class',
  spends: oneOf('spend', 'withdrawal'),
  cardSecrets: value => (typeof value === 'boolean' ? undefined : 'must be true or false'),
}

/**
 * Returns a rule if it is valid. Throws a `TypeError` that names the operation and the wrong member otherwise, also for
 * unknown and undefined members: with a misspelt one the rule would allow requests that it was meant to reject.
 */
export function checkedRule(rule: unknown): Rule {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) {
    throw new TypeError('a rule must be an object with operation, and allOf or anyOf')
  }
  const { operation, allOf, anyOf } = rule as Partial<Record<Member, unknown>>
  const wrong = (what: string): TypeError => new TypeError(`rule of ${JSON.stringify(operation)}: ${what}`)
  for (const [name, value] of Object.entries({ operation, ...rule })) {
    if (!Object.hasOwn(MEMBERS, name)) {
      throw wrong(`${name} is not known; known are ${Object.keys(MEMBERS).join(', ')}`)
    }
    if (value === undefined && name !== 'operation') {
      throw wrong(`${name} is undefined: give it a value, or leave it out`)
    }
    const problem = MEMBERS[name as Member](value)
    if (problem !== undefined) throw wrong(`${name} ${problem}`)
  }
  if (allOf === undefined && anyOf === undefined) {
    throw wrong(
      'name the scopes it needs in allOf or anyOf, or write allOf: [] to say that no scope is needed',
    )
  }
  return rule as Rule
}

function oneOf(first: string, second: string): (value: unknown) => string | undefined {
  return value => (value === first || value === second ? undefined : `must be ${first} or ${second}`)
}

function scopeList(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be a list of scopes'
  const index = Array.from(value).findIndex(scope => !isScope(scope))
  if (index < 0) return undefined
  return `must contain only scopes (printable ASCII without space, quote and backslash): [${index}] is not a scope`
}
