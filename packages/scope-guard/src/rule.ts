import type { Surface } from '@gatewright/kernel'

/** What one operation asks of a request. Declare each once, at start-up, and pass the same object every time. */
export interface Rule {
  /** The operation's canonical id, `tag.verb`: what policies and counters name. */
  readonly operation: string
  /** The only surface whose sessions may call it. Absent: both. */
  readonly surface?: Surface
  /** Scopes that must all be held. */
  readonly allOf?: readonly string[]
  /** Scopes of which one must be held, beside `allOf`. */
  readonly anyOf?: readonly string[]
  /** Its class, for limits that name classes. */
  readonly limit?: string
  /** What kind of money it moves. Such an operation must go through `reserve` before it takes effect. */
  readonly spends?: 'spend' | 'withdrawal'
  /** Whether its answer reveals card secrets (`allowCardSecrets`). */
  readonly cardSecrets?: boolean
}

const OPERATION = /^[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+$/
/** `scope-token` of RFC 6749 section 3.3: printable ASCII without space, quote and backslash. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** Checks a rule at declaration. Throws a `TypeError` that names the operation and the wrong member. */
export function checkedRule(rule: Rule): Rule {
  const wrong = (what: string): never => {
    throw new TypeError(`rule of ${JSON.stringify(rule.operation)}: ${what}`)
  }
  if (typeof rule.operation !== 'string' || !OPERATION.test(rule.operation)) {
    wrong('operation must be "tag.verb"')
  }
  for (const name of ['allOf', 'anyOf'] as const) {
    const scopes = rule[name]
    if (scopes === undefined) continue
    if (!Array.isArray(scopes) || scopes.length === 0) wrong(`${name} must be absent or name scopes`)
    for (const scope of scopes) if (!SCOPE.test(scope)) wrong(`${name} holds a scope that cannot be one`)
  }
  if (rule.surface !== undefined && rule.surface !== 'user' && rule.surface !== 'partner') {
    wrong('surface must be user or partner')
  }
  if (rule.spends !== undefined && rule.spends !== 'spend' && rule.spends !== 'withdrawal') {
    wrong('spends must be spend or withdrawal')
  }
  return rule
}

/** The scopes a rule lacks in what is held, space separated; undefined when it is satisfied. */
export function lackingScopes(rule: Rule, held: ReadonlySet<string>): string | undefined {
  let lacking = ''
  if (rule.allOf) for (const scope of rule.allOf) if (!held.has(scope)) lacking += ` ${scope}`
  if (rule.anyOf && !rule.anyOf.some(scope => held.has(scope))) lacking += ` ${rule.anyOf.join(' ')}`
  return lacking === '' ? undefined : lacking.slice(1)
}

/** The scopes a rule asks for, for its challenge. */
export function neededScopes({ allOf = [], anyOf = [] }: Rule): string {
  return [...allOf, ...anyOf].join(' ')
}
