import { sourceOf } from './compiled-module.ts'
import type { Equivalent } from './equivalents/equivalent.ts'
import { HTTP } from './equivalents/http.ts'
import { IDEMPOTENCY_STORE } from './equivalents/idempotency-store.ts'
import { REFERENCE_HOST } from './equivalents/reference-host.ts'
import { SCOPE_GUARD } from './equivalents/scope-guard.ts'
import { SESSION_ISSUER } from './equivalents/session-issuer.ts'
import { SIGNATURE_VERIFIER } from './equivalents/signature-verifier.ts'
import type { Mutation } from './mutations.ts'

/** Mutations that no test can notice. They do not count. */
export const EQUIVALENTS: readonly Equivalent[] = [
  ...IDEMPOTENCY_STORE,
  ...HTTP,
  ...REFERENCE_HOST,
  ...SCOPE_GUARD,
  ...SESSION_ISSUER,
  ...SIGNATURE_VERIFIER,
]

/** Whether it is the one that is listed, or one of those of a listed line. */
export function isListedAs({ source, before, after }: Equivalent, mutation: Mutation): boolean {
  return (
    source === sourceOf(mutation.file) &&
    before === mutation.before &&
    (after === undefined || after === mutation.after)
  )
}

/**
 * Whether a mutation leaves the order of a comparator for `sort` as it is: it returns 2 for 1, or it takes items for different that are
 * equal, which ids and names are not.
 */
export function keepsOrder(before: string, after: string): boolean {
  if (!before.includes('? -1 : 1')) return false
  return [
    before.replace(' < b', ' <= b'),
    before.replace(' > b', ' >= b'),
    before.replace('? -1 :', '? -2 :'),
    before.replace(': 1', ': 2'),
  ].some(changed => changed !== before && changed === after)
}
