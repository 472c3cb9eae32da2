import type { Session, EpochMs } from '@gatewright/kernel'
import type { ApiKey, KeyStorage } from '@gatewright/session-issuer'

/** A session made from a presented API key for one request. It is never stored. */
export interface KeySession extends Session {
  readonly key: ApiKey
}

/** Ids of stored sessions contain no colon. */
const PREFIX = 'key:'

/** Makes the session of a presented key: all of its rights, under its whole policy chain. */
export function keySession(key: ApiKey): KeySession {
  const { id, accountId, userId, walletAddress, surface, version, policyIds, scopes } = key
  return {
    sessionId: PREFIX + id,
    accountId,
    userId,
    walletAddress,
    surface,
    policyIds,
    scopes,
    keyId: id,
    keyVersion: version,
    issuedAt: 0,
    expiresAt: Number.MAX_SAFE_INTEGER,
    key,
  }
}

/** Whether a session was made from a presented key. */
export function isKeySession(session: Session): session is KeySession {
  return session.sessionId.startsWith(PREFIX)
}

/** Whether the key of such a session is live, and unchanged since it was presented. */
export async function isKeyCurrent(
  keys: Pick<KeyStorage, 'find'>,
  { keyId, keyVersion }: KeySession,
  now: EpochMs,
): Promise<boolean> {
  const key = await keys.find(keyId)
  return key?.version === keyVersion && key.revokedAt === null && now < (key.expiresAt ?? Infinity)
}
