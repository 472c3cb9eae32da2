import type { EpochMs } from '@gatewright/kernel'
import type { ApiKey } from '@gatewright/session-issuer'
import type { KeyCreator } from '@gatewright/session-issuer/internal'
import * as Type from 'typebox/type'
import { component, instant, text, instantOrNull, textOrNull } from '@gatewright/host/schemas'
import { grantedScopes, ignoredScopes } from '../credential-schemas.ts'
import { newKeyFields } from '../credential-fields.ts'

const Maker = Type.Object(
  {
    keyId: text('The key that created or rotated it'),
    sessionId: textOrNull('The session of that key that was used, if any'),
  },
  component('KeyMaker', 'Who created or rotated a key'),
)
const maker = (description: string) => Type.Union([Maker, Type.Null()], { description })

const Pause = Type.Object(
  {
    lineageId: text('The `lineageId` of the key that was paused: its own, or that of a key above it'),
    by: Type.Enum(['owner', 'operator'], { description: 'Who may resume it' }),
    at: instant('When'),
  },
  component('KeyPause', 'A pause of a key, which keys below it have too'),
)

/** Schema of a key in lists and changes. */
export const KeySchema = Type.Object(
  {
    id: text('The id of the key'),
    keyPrefix: text('The first characters of the key'),
    label: textOrNull('What people call it'),
    lineageId: text('The same for a key and its successors by rotation'),
    parentLineageId: textOrNull('The `lineageId` of the key above it; null for a key with none above'),
    scopes: grantedScopes,
    policy: Type.Unknown({
      description: 'Its own policy: an object, a list of several, or null for none',
    }),
    console: Type.Boolean({
      description:
        'Whether it is the key of an account console: nobody has its text, and it ends with its session',
    }),
    createdBy: maker('Null for a key that a wallet or the operator created'),
    rotatedBy: maker('Who replaced it by a successor; null if nobody did'),
    createdAt: instantOrNull('When it was created'),
    lastUsedAt: instantOrNull('Approximately when it was last used; null: never'),
    expiresAt: instantOrNull('When it expires; null: never'),
    revokedAt: instantOrNull('When it was revoked; null: never'),
    pauses: Type.Array(Pause, {
      // One for the key, and one for each of the 8 that may be above it.
      maxItems: 9,
      description: 'The paused keys at or above it. While there is one, it works nowhere',
    }),
  },
  component('ApiKey', 'An API key, without its text'),
)

/** Schema of a key that was changed or revoked. */
export const ChangedKey = Type.Object(
  {
    ...KeySchema.properties,
    lockedCards: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How many cards the revocation of the key has locked' }),
    ),
    canceledCards: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How many cards the revocation of the key has canceled' }),
    ),
  },
  component('ChangedApiKey', 'An API key after a change, without its text'),
)

/** Schema of a new key with its secret text. */
export const NewKey = Type.Object(
  {
    ...newKeyFields,
    label: textOrNull('What people call it'),
    walletAddress: textOrNull('The wallet of the account, where it has one'),
    userId: textOrNull('The user that the key acts for'),
    scopes: grantedScopes,
    ignoredScopes,
  },
  component('NewApiKey', 'A new API key with its text, which is shown only once'),
)

/** Returns the paths of a key operation, under both prefixes. */
export function keyPaths(tail: string): readonly [string, string] {
  return [`/user/v1/keys${tail}`, `/identity/user-api-keys${tail}`]
}

/** Converts a key for responses. `policy` is an object for one own policy, a list for several, null for none. */
export function keyData(key: ApiKey, policies: readonly unknown[]): Record<string, unknown> {
  return {
    id: key.id,
    keyPrefix: key.prefix,
    label: key.label,
    lineageId: key.lineageId,
    parentLineageId: key.ancestry.at(-1) ?? null,
    scopes: key.scopes,
    policy: policies.length > 1 ? policies : (policies[0] ?? null),
    console: key.console,
    createdBy: shownMaker(key.createdBy),
    rotatedBy: shownMaker(key.rotatedBy),
    createdAt: iso(key.createdAt),
    lastUsedAt: iso(key.lastUsedAt),
    expiresAt: iso(key.expiresAt),
    revokedAt: iso(key.revokedAt),
    pauses: key.pauses.map(pause => ({ ...pause, at: iso(pause.at) })),
  }
}

/** Converts the key that made or rotated another key, with its session if one was used. */
const shownMaker = (by: KeyCreator | null): object | null =>
  by && { keyId: by.keyId, sessionId: by.sessionIds.at(-1) ?? null }

const iso = (at: EpochMs | null): string | null => (at === null ? null : new Date(at).toISOString())
