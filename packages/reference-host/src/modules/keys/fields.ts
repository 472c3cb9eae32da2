import type { EpochMs } from '@gatewright/kernel'
import type { ApiKey, KeyCreator } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import { grantedScopes, instantOrNull, named, text, textOrNull } from '../shapes.ts'

const Maker = Type.Object(
  {
    keyId: text('The key that asked for it'),
    sessionId: textOrNull('The session of that key, where one asked'),
  },
  named('KeyMaker', 'Who made or rotated a key'),
)
const maker = (description: string) => Type.Union([Maker, Type.Null()], { description })

/** A key as lists and changes show it. */
export const KeyShape = Type.Object(
  {
    id: text('Names the key in this API'),
    keyPrefix: text('How the text of the key begins'),
    scopes: grantedScopes,
    policy: Type.Unknown({
      description: 'Its own policy: an object, a list where it has several, null where it has none',
    }),
    createdBy: maker('Null for a key that a wallet or the operator made'),
    rotatedBy: maker('Who replaced it by a successor; null while nobody did'),
    createdAt: instantOrNull('When it was made'),
    lastUsedAt: instantOrNull('About when it was last used; null: never'),
    expiresAt: instantOrNull('When it stops working by itself; null: never'),
    revokedAt: instantOrNull('When it was revoked; null while it works'),
  },
  named('ApiKey', 'An API key, without its text'),
)

/** Paths of an operation on keys: they live under both prefixes (contract section 1). */
export function keyPaths(tail: string): readonly [string, string] {
  return [`/user/v1/keys${tail}`, `/identity/user-api-keys${tail}`]
}

/** Shows a key: its own policies as one object, a list where several stand, null where none does. */
export function keyItem(key: ApiKey, policies: readonly unknown[]): Record<string, unknown> {
  return {
    ...{ id: key.id, keyPrefix: key.prefix, scopes: key.scopes },
    policy: policies.length > 1 ? policies : (policies[0] ?? null),
    ...{ createdBy: shownMaker(key.createdBy), rotatedBy: shownMaker(key.rotatedBy) },
    createdAt: iso(key.createdAt),
    lastUsedAt: iso(key.lastUsedAt),
    expiresAt: iso(key.expiresAt),
    revokedAt: iso(key.revokedAt),
  }
}

/** The key that made it, and its session that asked, where one did. */
const shownMaker = (by: KeyCreator | null): object | null =>
  by && { keyId: by.keyId, sessionId: by.sessionIds.at(-1) ?? null }

const iso = (at: EpochMs | null): string | null => (at === null ? null : new Date(at).toISOString())
