import type { Rule } from '@gatewright/kernel'

/** Returns the scopes that a rule requires and the session lacks, space separated; undefined if it lacks none. */
export function missingScopes(rule: Rule, held: ReadonlySet<string>): string | undefined {
  let missing = ''
  if (rule.allOf) for (const scope of rule.allOf) if (!held.has(scope)) missing += ` ${scope}`
  if (rule.anyOf && !rule.anyOf.some(scope => held.has(scope))) missing += ` ${rule.anyOf.join(' ')}`
  return missing === '' ? undefined : missing.slice(1)
}

/** Returns all scopes that a rule names, space separated, for the `scope` parameter of its challenge. */
export function requiredScopes({ allOf = [], anyOf = [] }: Rule): string {
  return [...allOf, ...anyOf].join(' ')
}
