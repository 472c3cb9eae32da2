import type { HostServices } from '@gatewright/host'
import { MAX_LISTED } from '@gatewright/host/internal'
import type { SessionRecord } from '@gatewright/session-issuer'
import { describeKey } from './key-output.ts'

/**
 * Lists the live sessions of an account, latest end first, at most `MAX_LISTED`. A session ends with its key, and when its key is
 * changed: the row of the session does not say so.
 */
export async function liveSessionsOf(
  { keys, sessions }: Pick<HostServices['backend']['issuer'], 'keys' | 'sessions'>,
  accountId: string,
  now: number,
): Promise<readonly SessionRecord[]> {
  const live: SessionRecord[] = []
  /** The versions of live keys. Those of a session of a partner belong to another account. */
  const versions = new Map<string, number | undefined>()
  let page = await sessions.list(accountId, MAX_LISTED, now)
  for (let last = page.at(-1); last; last = page.at(-1)) {
    for (const keyId of new Set(page.map(session => session.keyId))) {
      if (versions.has(keyId)) continue
      const key = await keys.find(keyId)
      versions.set(keyId, key && describeKey(key, now).state === 'live' ? key.version : undefined)
    }
    live.push(...page.filter(({ keyId, keyVersion }) => versions.get(keyId) === keyVersion))
    if (live.length >= MAX_LISTED || page.length < MAX_LISTED) break
    page = await sessions.list(accountId, MAX_LISTED, now, { at: last.expiresAt, id: last.sessionId })
  }
  return live.slice(0, MAX_LISTED)
}
