import { SESSION_TOKEN_TYPE, type Clock } from '@gatewright/kernel'
import { checkOptions, systemClock } from '@gatewright/kernel/internal'
import { checkedDpop, type CheckedDpop, type DpopOptions } from './dpop/options.ts'
import type { OnAlert } from './spend/alerts.ts'
import type { RateSource } from './spend/amount.ts'
import { checkedApprovals, type ApprovalOptions, type CheckedApprovals } from './spend/approval-options.ts'
import {
  checkedFailureOptions,
  type CheckedFailureOptions,
  type FailureOptions,
} from './rate-limits/failure-options.ts'
import { checkedLimit, type CheckedLimit, type LimitOptions } from './rate-limits/options.ts'
import type { PolicySource, SessionPolicies } from './policies/chain-loader.ts'
import { checkedRevocation, type CheckedRevocation, type RevocationOptions } from './revocation/revocation.ts'
import type { SpendStorage } from './storage/port.ts'
import { issuerKeys } from './token/discovery.ts'
import type { KeySource } from './token/keys.ts'
import type { SessionReader } from './token/claims.ts'
import { readAccessToken } from './token/session-reader.ts'

/** Options of `createGuard`. */
export interface GuardOptions {
  /** The `iss` of acceptable tokens, compared exactly. */
  readonly issuer: string
  /** A token's `aud` must be this value or contain it. */
  readonly audience: string
  /**
   * Verification keys by `kid`: `localKeys`, `remoteKeys`, `discoverKeys` or your own. Default: `discoverKeys(issuer)`, which
   * finds them from the metadata of the issuer.
   */
  readonly keys?: KeySource
  /**
   * Reads policy documents by id. Required if sessions have policies; by default there are no documents. With it, every session must
   * be able to name policies, or no cap would ever apply: give `sessionReader` the option `policyIds`. The default reader denies the
   * tokens of other issuers then, unless the guard has `sessionPolicies`.
   */
  readonly policies?: PolicySource
  /**
   * Returns policies of a session beside those that its token names, for tokens of another issuer: the same for all accounts, or by
   * `session.accountId`. All must allow a request. It is called when a token is verified, so a change takes effect within
   * `cacheSeconds`. If it throws, the response is a 503. Default: none.
   */
  readonly sessionPolicies?: SessionPolicies
  /** Rate limits. Default: 600 requests a minute per API key, in this process's memory. An empty list: no limit. */
  readonly limits?: readonly LimitOptions[]
  /**
   * How many failed credentials a client address may send, by default 60 a minute. Beyond that, tokens of the address that
   * are not known yet are verified in a low-priority queue, and only requests that do not fit in it get 429. Each process counts by itself, because the
   * budget protects its CPU; the option `store` counts for several.
   */
  readonly failedCredentials?: FailureOptions | 'off'
  /** How the guard learns of revoked sessions. Default `{ mode: 'off' }`: a session is valid until it expires. */
  readonly revocation?: RevocationOptions
  /** Stores the counters of spend caps. Without a store, every policy that needs a counter blocks and names its rule. */
  readonly spend?: SpendStorage
  /** Lets amounts above `approveAboveCents` of a policy be approved. Without it they are denied. */
  readonly approvals?: ApprovalOptions
  /**
   * Accepts tokens that are bound to a key of the client (DPoP, RFC 9449), at the public URL that `origin` names. Without it, such tokens are denied with 401
   * `invalid_dpop_proof`.
   */
  readonly dpop?: DpopOptions
  /** Returns US cents per minor unit of another currency. Without a rate, a money cap blocks the currency. */
  readonly rates?: RateSource
  /**
   * Receives an alert when the use of a cap reaches its `alertAtPercent`: at least once for each counter and window, awaited before `reserve` or
   * `check` returns. If it throws or takes longer than `storeTimeoutMs`, the decision is unchanged, and a later reservation gives the
   * alert again. Default: none.
   */
  readonly onAlert?: OnAlert
  /** How long a call of the policy source, the revocation check or the spend store may take, 10 to 60 000 ms, default 2000. */
  readonly storeTimeoutMs?: number
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /** The `typ` header of acceptable tokens. Default: that of the preset of `readSession`, else `at+jwt` (RFC 9068). */
  readonly typ?: string
  /**
   * Reads a session from claims. Default: any access token of RFC 9068, and the tokens of session-issuer. If the tokens of your
   * provider differ, name the provider: `sessionReader({ preset: 'auth0' })`.
   */
  readonly readSession?: SessionReader
  /**
   * The algorithm of RSA keys without `alg`. Default: the RSA algorithm of the issuer's metadata if it names exactly one, else
   * `RS256`.
   */
  readonly rsaAlgorithm?: 'RS256' | 'PS256'
  /** How far `nbf` and `iat` may be in the future, 0 to 60 s, default 5. Never added to `exp`. */
  readonly clockToleranceSeconds?: number
  /** Longest token in bytes, 256 to 16 384, default 4096. A longer token is denied without being decoded. */
  readonly maxTokenBytes?: number
  /** How many bytes of verified tokens are cached, 64 KiB to 1 TiB, default 32 MiB: about 13 000 tokens of up to 1 KiB. */
  readonly cacheBytes?: number
  /**
   * How many bytes of compiled policies are cached, 512 KiB to 1 TiB, so that each chain that `checkPolicyChain` accepts fits;
   * default 32 MiB. Sessions with the same policies share one compiled chain. An evicted chain is read from `policies` again.
   */
  readonly policyCacheBytes?: number
  /** How long a verification is reused, 1 to 3600 s, default 60. It is also how long a removed signing key is accepted at most. */
  readonly cacheSeconds?: number
}

/** Checked options, with every default filled in. */
export type CheckedOptions = Required<
  Omit<
    GuardOptions,
    | 'spend'
    | 'approvals'
    | 'onAlert'
    | 'typ'
    | 'dpop'
    | 'limits'
    | 'failedCredentials'
    | 'revocation'
    | 'sessionPolicies'
  >
> & {
  readonly sessionPolicies: SessionPolicies | undefined
  readonly limits: readonly CheckedLimit[]
  readonly failedCredentials: CheckedFailureOptions | 'off'
  readonly revocation: CheckedRevocation
  readonly dpop: CheckedDpop | undefined
  readonly types: readonly (string | undefined)[]
  readonly spend: SpendStorage | undefined
  readonly approvals: CheckedApprovals | undefined
  readonly onAlert: OnAlert | undefined
  readonly requiresPolicies: boolean
}

/** The default of `limits`. */
export const DEFAULT_LIMITS: readonly LimitOptions[] = [
  { name: 'guardedPerKeyPerMinute', points: 600, windowSeconds: 60, per: 'key' },
]

/** Checks options and fills in defaults. Throws a `TypeError` that names the option, what was expected and what came. */
export function checkedOptions(given: GuardOptions): CheckedOptions {
  const { keys, typ, dpop, rsaAlgorithm, ...options } = checkOptions('createGuard', given, {
    issuer: { is: 'text' },
    audience: { is: 'text' },
    keys: { is: 'function', default: undefined },
    policies: { default: async () => [] },
    sessionPolicies: { is: 'function', default: undefined },
    limits: { default: DEFAULT_LIMITS },
    failedCredentials: true,
    revocation: true,
    spend: true,
    approvals: true,
    dpop: true,
    rates: { default: () => undefined },
    onAlert: { is: 'function', default: undefined },
    storeTimeoutMs: { min: 10, max: 60_000, default: 2000 },
    clock: { default: systemClock },
    typ: { is: 'text', default: undefined },
    readSession: { default: readAccessToken },
    rsaAlgorithm: { is: ['RS256', 'PS256'], default: undefined },
    clockToleranceSeconds: { min: 0, max: 60, default: 5 },
    maxTokenBytes: { min: 256, max: 16_384, default: 4096 },
    cacheBytes: { min: 2 ** 16, max: 2 ** 40, default: 2 ** 25 },
    policyCacheBytes: { min: 2 ** 19, max: 2 ** 40, default: 2 ** 25 },
    cacheSeconds: { min: 1, max: 3600, default: 60 },
  })
  const { types = [SESSION_TOKEN_TYPE] } = options.readSession
  if (given.policies !== undefined) assertPoliciesApply(options.readSession)
  return {
    ...options,
    keys: keys ?? issuerKeys('createGuard', options.issuer, {}, rsaAlgorithm === undefined),
    limits: options.limits.map((limit, index) => checkedLimit(`createGuard limits[${index}]`, limit)),
    failedCredentials: checkedFailureOptions('createGuard failedCredentials', options.failedCredentials),
    revocation: checkedRevocation(options.revocation),
    spend: options.spend,
    approvals: options.approvals && checkedApprovals(options.approvals),
    onAlert: options.onAlert,
    sessionPolicies: options.sessionPolicies,
    dpop: dpop === undefined ? undefined : checkedDpop(dpop),
    types: typ === undefined ? types : [typ],
    rsaAlgorithm: rsaAlgorithm ?? 'RS256',
    requiresPolicies:
      given.policies !== undefined &&
      options.sessionPolicies === undefined &&
      options.readSession === readAccessToken,
  }
}

/** Throws a `TypeError` if no session can have the policies that the guard reads. */
function assertPoliciesApply({ namesPolicies }: SessionReader): void {
  if (namesPolicies !== false) return
  throw new TypeError(
    "createGuard: policies has no effect, because readSession gives sessions no policy ids, so no cap would ever apply. Name them: sessionReader({ policyIds: () => ['everybody'] }). Or write sessionPolicies: () => [{ id: 'everybody', document: { dailySpendCapCents: 10_000 } }] instead of policies",
  )
}
