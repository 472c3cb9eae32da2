import {
  allow,
  isStorableText,
  knownOptions,
  SESSION_TOKEN_TYPE,
  toClaims,
  type EpochMs,
  type Session,
  type Verdict,
  type OptionNames,
} from '@gatewright/kernel'
import { CompactSign } from 'jose'
import { actorOf, entryMaker, noteOn } from '../audit.ts'
import { isSession, scopesWithin } from '../keys/authority.ts'
import {
  DEFAULT_TTL_SECONDS,
  MAX_DEPTH,
  MAX_LABEL_LENGTH,
  MAX_POLICIES,
  MAX_TOKEN_BYTES,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
} from '../bounds.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import type { CheckedOptions } from '../options.ts'
import { randomBase62 } from '../random.ts'
import type { KeyRing, Signer } from '../signing/key-ring.ts'
import type { ApiKey, SessionRecord } from '../storage/port.ts'

/** What a new session is to be. */
export interface SessionRequest {
  /** Default: all that the key or session holds. */
  readonly scopes?: readonly string[]
  /** A policy document, checked by the host. It joins the chain, so it can only narrow. */
  readonly policy?: unknown
  /** 60 to 86 400, default 900. The session ends earlier when its key or parent session does. */
  readonly ttlSeconds?: number
  /** The user the session is for. Required with a partner key, refused with anything else. */
  readonly subject?: {
    readonly accountId: string
    readonly userId: string | null
    readonly walletAddress: string | null
  }
  /** At most 120 characters. */
  readonly label?: string
}

const REQUEST: OptionNames<SessionRequest> = {
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

const ENCODER = new TextEncoder()

/** Makes the verb that exchanges a key or a session for a session. */
export function createSessionIssuer(
  options: CheckedOptions,
  ring: KeyRing,
): (by: ApiKey | Session, request?: SessionRequest) => Promise<Verdict<IssuedSession, IssuerDenial>> {
  const { sessions, clock } = options
  const entryOf = entryMaker(options.auditRetentionDays)
  return async (by, request = {}) => {
    knownOptions('issueSession', request, REQUEST)
    const refusal = check(by, request)
    if (refusal) return refusal
    const now = clock.now()
    const parent = isSession(by) ? await sessions.find(by.sessionId) : undefined
    const above = isSession(by) ? parent : by
    if (!above || !(above.revokedAt === null && now < (above.expiresAt ?? Infinity))) {
      return deny('unauthorized', 'the credential is not valid', { reason: 'it has ended' })
    }
    const policyIds =
      request.policy === undefined ? by.policyIds : [...by.policyIds, `pol_${randomBase62(16)}`]
    const session = draw(by, request, policyIds, now)
    if (session.expiresAt <= now) {
      return deny('unauthorized', 'the credential is not valid', { reason: 'it ends within this second' })
    }
    const ancestry = parent ? [...parent.ancestry, parent.sessionId] : []
    if (policyIds.length > MAX_POLICIES || ancestry.length > MAX_DEPTH) {
      return deny('policy_blocked', 'sessions and policies stand too deep', {
        details: { rule: 'max_depth' },
      })
    }
    const token = await sign(options, await ring.signer(), session)
    if (token.length > MAX_TOKEN_BYTES) {
      return deny('invalid_request', `the token would be longer than ${MAX_TOKEN_BYTES} bytes`, {
        field: 'scopes',
      })
    }
    const record: SessionRecord = { ...session, ancestry, label: request.label ?? null, revokedAt: null }
    const own =
      request.policy === undefined ? [] : [{ id: policyIds.at(-1) as string, document: request.policy }]
    const note = noteOn('session.create', session.sessionId, policyIds)
    const audit = entryOf(session.accountId, actorOf(by), note, now)
    if (!(await sessions.insert(record, own, audit))) {
      return deny('unauthorized', 'the credential is not valid', { reason: 'the parent session was revoked' })
    }
    return allow({ token, session })
  }
}

/** Everything that can be refused without looking at the store. */
function check(by: ApiKey | Session, request: SessionRequest): IssuerDenial | undefined {
  const { ttlSeconds = DEFAULT_TTL_SECONDS, scopes = [], label = '', subject } = request
  if (!Number.isSafeInteger(ttlSeconds) || ttlSeconds < MIN_TTL_SECONDS || ttlSeconds > MAX_TTL_SECONDS) {
    return deny(
      'invalid_request',
      `ttlSeconds must be an integer from ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}`,
      {
        field: 'ttlSeconds',
      },
    )
  }
  if (typeof label !== 'string' || label.length > MAX_LABEL_LENGTH || !isStorableText(label)) {
    const message = `label must be at most ${MAX_LABEL_LENGTH} characters, well-formed and without U+0000`
    return deny('invalid_request', message, { field: 'label' })
  }
  const partnerKey = by.surface === 'partner' && !isSession(by)
  if (partnerKey !== (subject !== undefined)) {
    return deny('invalid_request', 'a user must be named with a partner key, and only then', {
      field: 'userId',
    })
  }
  if (subject && ![subject.accountId, subject.userId ?? ''].every(isStorableText)) {
    return deny('invalid_request', 'the user must be named in well-formed Unicode without U+0000', {
      field: 'userId',
    })
  }
  return scopesWithin(scopes, by.scopes)
}

/** Dates are whole seconds, as in the token; a session ends no later than what it comes from. */
function draw(
  by: ApiKey | Session,
  request: SessionRequest,
  policyIds: readonly string[],
  now: EpochMs,
): Session {
  const issuedAt = Math.floor(now / 1000) * 1000
  const wanted = issuedAt + (request.ttlSeconds ?? DEFAULT_TTL_SECONDS) * 1000
  const end = Math.floor((by.expiresAt ?? Infinity) / 1000) * 1000
  const { accountId, userId, walletAddress } = request.subject ?? by
  return {
    sessionId: randomBase62(22),
    ...{ accountId, userId, walletAddress },
    surface: by.surface,
    keyId: isSession(by) ? by.keyId : by.id,
    keyVersion: isSession(by) ? by.keyVersion : by.version,
    policyIds,
    scopes: request.scopes ? [...new Set(request.scopes)] : by.scopes,
    issuedAt,
    expiresAt: Math.min(wanted, end),
  }
}

/** jose's `CompactSign` and not `SignJWT`, which would copy the claims deeply once more before it serialises them. */
function sign(options: CheckedOptions, { kid, algorithm, key }: Signer, session: Session): Promise<string> {
  const claims = { ...toClaims(session), iss: options.issuer, aud: options.audience }
  return new CompactSign(ENCODER.encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: algorithm, kid, typ: SESSION_TOKEN_TYPE })
    .sign(key)
}
