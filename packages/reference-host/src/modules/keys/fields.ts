import type { EpochMs } from '@gatewright/kernel'
import type { ApiKey } from '@gatewright/session-issuer'
import Type from 'typebox'

const instant = Type.Union([Type.String({ format: 'date-time' }), Type.Null()])

/** A key as lists and changes show it. */
export const keyItemShape = {
  id: Type.String(),
  keyPrefix: Type.String(),
  scopes: Type.Array(Type.String()),
  policy: Type.Unknown(),
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
    createdAt: iso(key.createdAt),
    lastUsedAt: iso(key.lastUsedAt),
    expiresAt: iso(key.expiresAt),
    revokedAt: iso(key.revokedAt),
  }
}

const iso = (at: EpochMs | null): string | null => (at === null ? null : new Date(at).toISOString())
