import type { Verdict } from '@gatewright/kernel'
import type { HostServices } from '@gatewright/host'
import type { ApiKey, Issuer } from '@gatewright/session-issuer'
import { denyFrozen } from '../onboarding/requirements.ts'

/**
 * Makes a key for an account of the user surface, unless the account is frozen. The issuer commits by itself, so a freeze of the same moment is
 * looked for again: then the key is revoked, and nobody gets its text.
 */
export async function makeUnlessFrozen(
  { db, issuer }: Pick<HostServices, 'db' | 'issuer'>,
  accountId: string,
  request: Parameters<Issuer['createKey']>[0],
): Promise<Verdict<{ readonly key: ApiKey; readonly text: string }>> {
  const account = { accountId, surface: 'user' } as const
  const before = await denyFrozen(db, account)
  if (!before.ok) return before
  const made = await issuer.createKey(request)
  if (!made.ok) return made
  const after = await denyFrozen(db, account)
  if (after.ok) return made
  await issuer.revokeKey('operator', made.value.key.id)
  return after
}
