import type { HeaderField } from '@gatewright/kernel'
import { deny, type GuardDenial, type GuardReason } from './codes.ts'

/** The refusals about credentials and scopes, each with its RFC 6750 section 3 challenge. */
export interface Challenges {
  /** No bearer credential was sent: the challenge has no error code (section 3.1). */
  missing(): GuardDenial
  /** The credential is not acceptable. One answer for every cause; `reason` is for the decision event. */
  invalid(reason: GuardReason): GuardDenial
  expired(): GuardDenial
  /** `scope` is what the operation needs, space separated. */
  scope(scope: string, missing: string): GuardDenial
}

/** A `realm` is pasted into a quoted string: printable ASCII without quote and backslash. */
const REALM = /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,100}$/

/** Makes the refusals of one realm. Throws a `TypeError` for a realm that cannot stand in a quoted string. */
export function challenges(realm: string): Challenges {
  if (!REALM.test(realm)) throw new TypeError('realm must be 1 to 100 printable ASCII characters, no quote')
  const field = (parameters: string): readonly HeaderField[] => [
    ['WWW-Authenticate', `Bearer realm="${realm}"${parameters}`],
  ]
  const none = field('')
  const bad = field(', error="invalid_token", error_description="The access token is not valid"')
  const late = field(', error="invalid_token", error_description="The access token has expired"')
  return {
    missing: () => ({
      ...deny('unauthorized', 'A bearer session token is required', { reason: 'no credential' }),
      headers: none,
    }),
    invalid: reason => ({
      ...deny('unauthorized', 'The session token is not valid', { reason }),
      headers: bad,
    }),
    expired: () => ({ ...deny('session_expired', 'The session has expired'), headers: late }),
    scope: (scope, missing) => ({
      ...deny('insufficient_scope', `The session lacks the scope ${missing}`, {
        details: { scope: missing },
      }),
      headers: field(`, error="insufficient_scope", scope="${scope}"`),
    }),
  }
}
