import type { HeaderField } from '@gatewright/kernel'
import type { RequestFacts } from './facts.ts'

/** The answer fields we send that a browser script may read only when they are exposed: for a CORS middleware. */
export const exposedHeaders: readonly string[] = [
  'Deprecation',
  'Idempotency-Expires',
  'Idempotency-Replayed',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
]

const FIELD: HeaderField = ['Access-Control-Expose-Headers', exposedHeaders.join(', ')]

/** The exposure field for a request of another origin. Whether that origin may call at all is not decided here. */
export function exposure(facts: RequestFacts): readonly HeaderField[] {
  return facts.header('origin') === undefined ? [] : [FIELD]
}
