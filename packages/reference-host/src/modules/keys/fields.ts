import type { EpochMs } from '@gatewright/kernel'
import type { ApiKey, KeyMaker } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'

const instant = Type.Union([Type.String({ format: 'date-time' }), Type.Null()])

const maker = Type.Union([
  Type.Object({ keyId: Type.String(), sessionId: Type.Union([Type.String(), Type.Null()]) }),
  Type.Null(),
])

/** A key as lists and changes show it. */
export const keyItemShape = {
  id: Type.String(),
  keyPrefix: Type.String(),
  scopes: Type.Array(Type.String()),
  policy: Type.Unknown(),
  createdBy: maker,
  rotatedBy: maker,
  createdAt: instant,
  lastUsedAt: instant,
  expiresAt: instant,
  revokedAt: instant,
} as const

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
const shownMaker = (by: KeyMaker | null): object | null =>
  by && { keyId: by.keyId, sessionId: by.sessionIds.at(-1) ?? null }

const iso = (at: EpochMs | null): string | null => (at === null ? null : new Date(at).toISOString())
