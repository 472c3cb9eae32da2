import type { HeaderFields } from '../codes.ts'

/** How one limit stands after a request. */
export interface LimitState {
  readonly name: string
  /** Requests left in the window. */
  readonly remaining: number
  /** Seconds until the window ends, rounded up. */
  readonly resetSeconds: number
}

/** One limit's entry in `RateLimit-Policy`. */
export function policyItem(name: string, points: number, windowSeconds: number): string {
  return `"${name}";q=${points};w=${windowSeconds}`
}

/**
 * The `RateLimit-Policy` and `RateLimit` fields: structured-field lists with one item per limit
 * (draft-ietf-httpapi-ratelimit-headers). `policy` is the same for every request of a rule and comes joined.
 */
export function rateLimitFields(policy: string, states: readonly LimitState[]): HeaderFields {
  let current = ''
  for (const { name, remaining, resetSeconds } of states) {
    current += `${current === '' ? '' : ', '}"${name}";r=${remaining};t=${resetSeconds}`
  }
  return [
    ['RateLimit-Policy', policy],
    ['RateLimit', current],
  ]
}
