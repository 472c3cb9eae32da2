import type { EpochMs } from '@gatewright/kernel'
import { isoOrNull } from '@gatewright/host/internal'
import type { CommandOutput } from '@gatewright/host/cli'
import type { ApiKey, KeyRecord } from '@gatewright/session-issuer'
import { type Limit, rightsSentence } from '../../product/limit-words.ts'
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

/** A key with its policies, from the root of its chain to its own. */
type ShownKey = ReturnType<typeof describeKey> & {
  readonly policies: readonly { readonly id: string; readonly document: unknown }[]
}

/** The rules of a policy that `rightsSentence` says by its limits. */
const SAID = new Set([
  'maxAuthAmountCents',
  'dailySpendCapCents',
  'dailyWithdrawalCapCents',
  'approveAboveCents',
  'alertAtPercent',
  'limits',
])

/** Returns what a person reads of a key: a sentence of what it may do, who made it, and the rules of its policies that are no limits on money. */
export function keyFields(
  { policies, createdBy, rotatedBy, ...key }: ShownKey,
  caps: readonly Limit[],
): Readonly<Record<string, unknown>> {
  const documents = policies.map(({ document }) => document)
  const rules = documents.flatMap(document => Object.entries(document ?? {}))
  const known = Object.entries(key).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(known),
    may: rightsSentence({ scopes: key.scopes, limits: caps, documents }),
    ...Object.fromEntries(rules.filter(([rule]) => !SAID.has(rule))),
    ...(createdBy && { createdBy: makerWords(createdBy) }),
    ...(rotatedBy && { rotatedBy: makerWords(rotatedBy) }),
    policies: policies.map(({ id }) => id),
  }
}

/** Says who made a key. */
function makerWords(maker: NonNullable<KeyRecord['createdBy']>): string {
  const sessionId = maker.sessionIds.at(-1)
  return sessionId === undefined ? `key ${maker.keyId}` : `session ${sessionId} of key ${maker.keyId}`
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
