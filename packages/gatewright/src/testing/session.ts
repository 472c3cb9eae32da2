import { checkOptions } from '@gatewright/kernel/internal'

/** Whose request a test sends: what the access token of the caller says. */
export interface TestSession {
  /** The account, which payments, caps and idempotency keys belong to. Default `account-1`. */
  readonly accountId: string
  /** The client that requested the token. Default `client-1`. */
  readonly clientId: string
  /** What the caller may do. Default: nothing. */
  readonly scopes: readonly string[]
  /** How long a token of the session is valid, 1 to 86 400 s, default 900. */
  readonly lifetimeSeconds: number
  /** More claims of the token, such as a tenant. They replace other claims of the same name. Default: none. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Makes the session of a caller, with a default for what is not given. Throws a `TypeError` for a wrong member. */
export function testSession(given: Partial<TestSession> = {}): TestSession {
  return checkOptions('testSession', given, {
    accountId: { is: 'text', default: 'account-1' },
    clientId: { is: 'text', default: 'client-1' },
    scopes: { default: [] },
    lifetimeSeconds: { min: 1, max: 86_400, default: 900 },
    claims: { is: 'object', default: {} },
  })
}
