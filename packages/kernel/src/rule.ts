import type { Surface } from './claims.ts'

interface RuleMembers {
  /** The operation's canonical id, `tag.verb`: what policies, limits, idempotency records and reports name. */
  readonly operation: string
  /** The only surface whose sessions may call it. Absent: both. */
  readonly surface?: Surface
  /** Its class, for limits that name classes. */
  readonly limit?: string
  /** What kind of money it moves. Such an operation must go through `reserve` before it takes effect. */
  readonly spends?: 'spend' | 'withdrawal'
  /** Whether its answer reveals card secrets (`allowCardSecrets`). */
  readonly cardSecrets?: boolean
}

/** Scopes that must all be held; `[]` says that no scope is needed. */
type AllOf<S extends string> = readonly S[]
/** Scopes of which one must be held, beside `allOf`. */
type AnyOf<S extends string> = readonly S[]

/**
 * What one operation asks of a request. It names its scopes in `allOf`, `anyOf` or both; `allOf: []` says that none is
 * needed. Declare each once, at start-up, and pass the same object every time. `S`: the scopes it may name.
 */
export type Rule<S extends string = string> = RuleMembers &
  (
    | { readonly allOf?: AllOf<S>; readonly anyOf: AnyOf<S> }
    | { readonly allOf: AllOf<S>; readonly anyOf?: AnyOf<S> }
  )

type Member = keyof RuleMembers | 'allOf' | 'anyOf'

const OPERATION = /^[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+$/
/** `scope-token` of RFC 6749 section 3.3: printable ASCII without space, quote and backslash. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** What is wrong with the value of each member, or undefined. */
const MEMBERS: Readonly<Record<Member, (value: unknown) => string | undefined>> = {
  operation: value =>
    typeof value === 'string' && OPERATION.test(value)
      ? undefined
      : `must be "tag.verb", not ${JSON.stringify(value)}`,
  surface: oneOf('user', 'partner'),
  allOf: scopeList,
  anyOf: value =>
    scopeList(value) ?? ((value as []).length === 0 ? 'must name at least one scope' : undefined),
  limit: value => (typeof value === 'string' && value !== '' ? undefined : 'must be the name of a class'),
  spends: oneOf('spend', 'withdrawal'),
  cardSecrets: value => (typeof value === 'boolean' ? undefined : 'must be true or false'),
}

/**
 * Checks a rule at declaration and gives it back. Throws a `TypeError` that names the operation and the wrong member:
 * an unknown or undefined one would else let requests pass that the rule was meant to refuse.
 */
export function checkRule(rule: unknown): Rule {
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
  const index = Array.from(value).findIndex(scope => typeof scope !== 'string' || !SCOPE.test(scope))
  if (index < 0) return undefined
  return `must hold scopes only, printable ASCII without space, quote and backslash: [${index}] is none`
}
