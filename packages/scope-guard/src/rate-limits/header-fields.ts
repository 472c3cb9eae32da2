import type { HeaderField } from '@gatewright/kernel'
import type { LimitOptions } from './options.ts'

/** The state of one limit after a request. */
export interface LimitState {
  readonly name: string
  /** Requests left in the window. */
  readonly remaining: number
  /** Seconds until the window ends, rounded up. */
  readonly resetSeconds: number
}

/** Makes the `RateLimit-Policy` field of limits. It is the same for every request of a rule, so it is made once per rule. */
export function policyField(
  limits: readonly Pick<LimitOptions, 'name' | 'points' | 'windowSeconds'>[],
): HeaderField {
  const items = limits.map(({ name, points, windowSeconds }) => `"${name}";q=${points};w=${windowSeconds}`)
  return ['RateLimit-Policy', items.join(', ')]
}

/**
 * Makes the `RateLimit-Policy` and `RateLimit` fields: structured-field lists with one item per limit
 * (draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4). No partition key is sent: a response is about one bucket of each limit.
 */
export function rateLimitFields(policy: HeaderField, states: readonly LimitState[]): readonly HeaderField[] {
  let current = ''
  for (let index = 0; index < states.length; index++) {
    const { name, remaining, resetSeconds } = states[index] as LimitState
    const item = `"${name}";r=${remaining};t=${resetSeconds}`
    current = index === 0 ? item : `${current}, ${item}`
  }
  return [policy, ['RateLimit', current]]
}
