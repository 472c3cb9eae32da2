import type { HeaderField } from '@gatewright/kernel'
import type { RequestFacts } from '../request/facts.ts'

/** The header fields of responses that a browser script may read only if they are exposed. For a CORS middleware. */
export const exposedHeaders: readonly string[] = [
  'DPoP-Nonce',
  'Deprecation',
  'Idempotency-Expires',
  'Idempotency-Replayed',
  'Idempotent-Replayed',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
]

const FIELD: HeaderField = ['Access-Control-Expose-Headers', exposedHeaders.join(', ')]

/** Returns `Access-Control-Expose-Headers` for a request with `Origin`. It does not decide whether the origin is allowed. */
export function exposureFields(facts: RequestFacts): readonly HeaderField[] {
  return facts.header('origin') === undefined ? [] : [FIELD]
}
