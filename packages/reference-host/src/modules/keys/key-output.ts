import type { Verdict, EpochMs } from '@gatewright/kernel'
import { type CommandOutput, isoOrNull, unwrap } from '@gatewright/host/internal'
import type { ApiKey, KeyRecord } from '@gatewright/session-issuer'

/** Returns the members of a key that commands show: never its digest. `held` has the ids of keys that are denied since a restore. */
export function describeKey(key: KeyRecord, now: EpochMs, held: ReadonlySet<string> = new Set()) {
  const expired = key.expiresAt !== null && key.expiresAt <= now
  const unrevoked = expired ? 'expired' : held.has(key.id) ? 'held' : 'live'
  return {
    id: key.id,
    label: key.label,
    keyPrefix: key.prefix,
    surface: key.surface,
    console: key.console,
    accountId: key.accountId,
    state: key.revokedAt === null ? unrevoked : 'revoked',
    scopes: key.scopes,
    parentId: key.parentId,
    successorId: key.successorId,
    createdBy: key.createdBy,
    rotatedBy: key.rotatedBy,
    createdAt: isoOrNull(key.createdAt),
    lastUsedAt: isoOrNull(key.lastUsedAt),
    expiresAt: isoOrNull(key.expiresAt),
    revokedAt: isoOrNull(key.revokedAt),
  }
}

/** The output of a command that revoked a key. */
export function revokedKeyOutput(verdict: Verdict<ApiKey>): CommandOutput {
  const { id, label, revokedAt } = unwrap(verdict)
  const name = label === null ? id : `${id} (${label})`
  return {
    data: { keyId: id, label, revokedAt },
    lines: [`${name} is revoked; its sessions end within a second.`],
  }
}
