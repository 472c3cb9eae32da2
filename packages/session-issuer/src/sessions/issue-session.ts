import { allow, toClaims, type Session, type Verdict, type EpochMs } from '@gatewright/kernel'
import { isStorableText, checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import { actorOf, auditEntryBuilder, auditNote } from '../audit.ts'
import { isSession, denyMissingScopes } from '../keys/authority.ts'
import { denyLargePolicy, type CheckChains } from '../keys/chain-bounds.ts'
import { deny, type IssuerDenial, type IssuerReason } from '../codes.ts'
import { MAX_DEPTH, MAX_LABEL_LENGTH, MAX_POLICIES, MAX_TOKEN_BYTES, MIN_SESSION_SECONDS } from '../limits.ts'
import type { CheckedOptions } from '../options.ts'
import { isPlainLine } from '../plain-line.ts'
import { randomBase62 } from '../random.ts'
import { routeOf } from '../route.ts'
import type { KeyRing } from '../signing/key-ring.ts'
import type { ApiKey, SessionRecord } from '../storage/port.ts'

/** The requested session. */
export interface SessionRequest {
  /** The session's scopes. Default: all scopes of the key or session. */
  readonly scopes?: readonly string[]
  /**
   * A policy document, checked by the host. It is added to the chain, so it can only narrow. Denial: `invalid_request` with the field
   * `policy` if it or the chain would be too large (8 KiB, 32 KiB, `checkPolicyChain`).
   */
  readonly policy?: unknown
  /**
   * Lifetime of the session, 60 to `maxSessionTtlSeconds`. Default `defaultSessionTtlSeconds`. The session
   * ends earlier if its key or parent session does.
   */
  readonly ttlSeconds?: number
  /** The user of the session. Required for a partner key, denied for any other. */
  readonly subject?: {
    readonly accountId: string
    readonly userId: string | null
    readonly walletAddress: string | null
  }
  /** At most 120 characters. */
  readonly label?: string
}

const REQUEST: OptionTable<SessionRequest> = {
  scopes: true,
  policy: true,
  ttlSeconds: true,
  subject: true,
  label: true,
}

/** A new session and its token. */
export interface IssuedSession {
  readonly token: string
  readonly session: Session
}

/** Makes the method that exchanges a key or a session for a new session. */
export function makeIssueSession(
  options: CheckedOptions,
  ring: KeyRing,
  checkChains: CheckChains,
): (by: ApiKey | Session, request?: SessionRequest) => Promise<Verdict<IssuedSession, IssuerDenial>> {
  const { sessions, clock } = options
  const buildAuditEntry = auditEntryBuilder(options.auditRetentionDays)
  return async (by, request = {}) => {
    checkOptions('issueSession', request, REQUEST)
    const denial = validateRequest(by, request, options)
    if (denial) return denial
    const now = clock.now()
    const parent = isSession(by) ? await sessions.find(by.sessionId) : undefined
    const above = isSession(by) ? parent : by
    if (!above || !(above.revokedAt === null && now < (above.expiresAt ?? Infinity)))
      return invalidCredential('the key or session has ended')
    const route = routeOf((request.subject ?? by).accountId)
    const policyIds =
      request.policy === undefined ? by.policyIds : [...by.policyIds, `pol_${route}${randomBase62(14)}`]
    const session = buildSession(by, request, policyIds, {
      now,
      ttlSeconds: request.ttlSeconds ?? options.defaultSessionTtlSeconds,
      route,
    })
    if (session.expiresAt <= now) return invalidCredential('the session would end within this second')
    const ancestry = parent ? [...parent.ancestry, parent.sessionId] : []
    if (policyIds.length > MAX_POLICIES || ancestry.length > MAX_DEPTH) return tooDeep
    const own =
      request.policy === undefined ? [] : [{ id: policyIds.at(-1) as string, document: request.policy }]
    const tooLarge = own.length > 0 && (await checkChains([policyIds], own))
    if (tooLarge) return tooLarge
    const sign = await ring.signer()
    const token = await sign(
      JSON.stringify({ ...toClaims(session), iss: options.issuer, aud: options.audience }),
    )
    if (token.length > MAX_TOKEN_BYTES) return tooLong
    const record: SessionRecord = { ...session, ancestry, label: request.label ?? null, revokedAt: null }
    const note = auditNote('session.create', session.sessionId, policyIds)
    const audit = buildAuditEntry(session.accountId, actorOf(by), note, now)
    return (await sessions.insert(record, own, audit))
      ? allow({ token, session })
      : invalidCredential('the parent session was revoked')
  }
}

const invalidCredential = (reason: IssuerReason): IssuerDenial =>
  deny('unauthorized', 'the credential is not valid', { reason })

const tooDeep = deny(
  'policy_blocked',
  `session chain deeper than ${MAX_DEPTH}, or more than ${MAX_POLICIES} policies`,
  { details: { rule: 'max_depth' } },
)

const tooLong = deny('invalid_request', `the token would be longer than ${MAX_TOKEN_BYTES} bytes`, {
  field: 'scopes',
})

/** Denies a lifetime that is not an integer within the bounds of the options. */
export function denyTtl(
  ttlSeconds: number,
  { maxSessionTtlSeconds: most }: CheckedOptions,
): IssuerDenial | undefined {
  if (Number.isSafeInteger(ttlSeconds) && ttlSeconds >= MIN_SESSION_SECONDS && ttlSeconds <= most)
    return undefined
  return deny('invalid_request', `ttlSeconds must be an integer from ${MIN_SESSION_SECONDS} to ${most}`, {
    field: 'ttlSeconds',
  })
}

/** Denies a request that is invalid without any storage call. */
function validateRequest(
  by: ApiKey | Session,
  request: SessionRequest,
  options: CheckedOptions,
): IssuerDenial | undefined {
  const { defaultSessionTtlSeconds } = options
  const { ttlSeconds = defaultSessionTtlSeconds, scopes = [], label = '', subject } = request
  const ttlDenial = denyTtl(ttlSeconds, options)
  if (ttlDenial) return ttlDenial
  if (typeof label !== 'string' || label.length > MAX_LABEL_LENGTH || !isPlainLine(label)) {
    const message = `label must be at most ${MAX_LABEL_LENGTH} characters of well-formed Unicode, without control characters and characters that change the direction of text`
    return deny('invalid_request', message, { field: 'label' })
  }
  const partnerKey = by.surface === 'partner' && !isSession(by)
  if (partnerKey !== (subject !== undefined)) {
    return deny(
      'invalid_request',
      'a session of a partner key must name its user, and no other session may',
      {
        field: 'userId',
      },
    )
  }
  if (subject && ![subject.accountId, subject.userId ?? ''].every(isStorableText)) {
    return deny('invalid_request', 'the ids of the user must be well-formed Unicode without U+0000', {
      field: 'userId',
    })
  }
  return denyLargePolicy(request.policy) ?? denyMissingScopes(scopes, by.scopes)
}

/**
 * Builds a session. Its dates are whole seconds, as in the token. It ends no later than the key or session that it is minted
 * from.
 */
function buildSession(
  by: ApiKey | Session,
  request: SessionRequest,
  policyIds: readonly string[],
  { now, ttlSeconds, route }: { now: EpochMs; ttlSeconds: number; route: string },
): Session {
  const issuedAt = Math.floor(now / 1000) * 1000
  const wanted = issuedAt + ttlSeconds * 1000
  const end = Math.floor((by.expiresAt ?? Infinity) / 1000) * 1000
  const { accountId, userId, walletAddress } = request.subject ?? by
  return {
    sessionId: route + randomBase62(20),
    accountId,
    userId,
    walletAddress,
    surface: by.surface,
    keyId: isSession(by) ? by.keyId : by.id,
    keyVersion: isSession(by) ? by.keyVersion : by.version,
    policyIds,
    scopes: request.scopes ? [...new Set(request.scopes)] : by.scopes,
    issuedAt,
    expiresAt: Math.min(wanted, end),
  }
}
