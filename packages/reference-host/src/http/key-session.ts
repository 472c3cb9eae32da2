import type { Session } from '@gatewright/kernel'
import type { ApiKey } from '@gatewright/session-issuer'

/** The session that a presented API key stands for while one request is decided. It is stored nowhere. */
export interface KeySession extends Session {
  readonly key: ApiKey
}

/** Ids of stored sessions have no colon. */
const PREFIX = 'key:'

/** The session that a presented key stands for: all of its rights, under its whole policy chain. */
export function keySession(key: ApiKey): KeySession {
  const { id, accountId, userId, walletAddress, surface, version, policyIds, scopes } = key
  return {
    ...{ sessionId: PREFIX + id, accountId, userId, walletAddress, surface, policyIds, scopes },
    ...{ keyId: id, keyVersion: version, issuedAt: 0, expiresAt: Number.MAX_SAFE_INTEGER, key },
  }
}

/** Whether a session stands for a presented key. */
export function isKeySession(session: Session): session is KeySession {
  return session.sessionId.startsWith(PREFIX)
}
