import { isStorableText } from '@gatewright/kernel/internal'
import type { StoredPolicy } from './policy.ts'
import type { Block, PredicateResult } from './predicates.ts'

/** The most characters (UTF-16 code units) of a payee's name. */
const MAX_LENGTH = 200
/** The most names of one payee. */
const MAX_NAMES = 16

/** Whether a value is the name of a payee, as policies list it and a spend gives it: a text of 1 to 200 characters that stores keep unchanged. */
export const isPayeeName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_LENGTH && isStorableText(value)

/** Whether a value is the payee of a spend: a name, or a list of 1 to 16 names. */
export function isPayee(value: unknown): boolean {
  if (!Array.isArray(value)) return isPayeeName(value)
  return value.length > 0 && value.length <= MAX_NAMES && value.every(isPayeeName)
}

/** Returns the names of a well-formed payee; none if the spend has no payee. */
const namesOf = (payee: string | readonly string[] | undefined): readonly string[] =>
  payee === undefined ? [] : [payee].flat()

/** The lists of payees of a chain, compiled. */
export interface PayeeLists {
  /** Returns the first list that blocks a spend to a payee, or undefined. A spend without a payee is blocked by every list. */
  block(payee: string | readonly string[] | undefined): Block | undefined
  /** Returns what each list decides, in the order in which `block` tests them. */
  results(payee: string | readonly string[] | undefined): readonly PredicateResult[]
}

/**
 * Compiles the lists of payees, `denyPayees` before `payees`. A payee is denied if a `denyPayees` has any of its names, and allowed if
 * each `payees` has at least one of them. Names are compared character by character.
 */
export function compilePayees(policies: readonly StoredPolicy[]): PayeeLists {
  const lists = (['denyPayees', 'payees'] as const).flatMap(rule =>
    policies.flatMap(({ id: policyId, policy }) => {
      const listed = policy[rule]
      return listed ? [{ rule, policyId, names: new Set(listed) }] : []
    }),
  )
  const results = (payee: string | readonly string[] | undefined): PredicateResult[] => {
    const given = namesOf(payee)
    return lists.map(({ rule, policyId, names }) => {
      const found = given.filter(name => names.has(name))
      const denies = rule === 'denyPayees'
      const blocks = given.length === 0 || found.length > 0 === denies
      const named = payee === undefined ? {} : { payee, ...(denies ? { denied: found } : {}) }
      return { block: { rule, policyId, ...named, ...(denies ? {} : { allowed: names.size }) }, blocks }
    })
  }
  return {
    block: payee => (lists.length === 0 ? undefined : results(payee).find(({ blocks }) => blocks)?.block),
    results,
  }
}
