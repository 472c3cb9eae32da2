import type { Rule } from '@gatewright/kernel'

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
