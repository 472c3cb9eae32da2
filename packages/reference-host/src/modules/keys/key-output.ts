import type { EpochMs } from '@gatewright/kernel'
import { isoOrNull } from '@gatewright/host/internal'
import type { CommandOutput } from '@gatewright/host/cli'
import type { ApiKey } from '@gatewright/session-issuer'
import { cardWords, endedCards, type CardChoice } from '../cards/ended-keys.ts'

/** Returns the members of a key that commands show: never its digest. `held` has the ids of keys that are denied since a restore. */
export function describeKey(key: ApiKey, now: EpochMs, held: ReadonlySet<string> = new Set()) {
  const expired = key.expiresAt !== null && key.expiresAt <= now
  const unrevoked = expired
    ? 'expired'
    : key.pauses.length > 0
      ? 'paused'
      : held.has(key.id)
        ? 'held'
        : 'live'
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
    pauses: key.pauses.map(({ at, ...pause }) => ({ ...pause, at: isoOrNull(at) })),
  }
}

/** The output of a command that revoked a key. `cards`: what it did with the cards of the key. */
export function revokedKeyOutput(
  { id, label, revokedAt }: ApiKey,
  cards?: { readonly choice: CardChoice; readonly ended: number },
): CommandOutput {
  const name = label === null ? id : `${id} (${label})`
  return {
    data: { keyId: id, label, revokedAt, ...(cards && endedCards(cards.choice, cards.ended)) },
    lines: [
      `${name} is revoked; its sessions end within a second.`,
      ...(cards ? [cardWords(cards.choice, cards.ended)] : []),
    ],
  }
}
