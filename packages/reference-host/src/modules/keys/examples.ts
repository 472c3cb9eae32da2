import type { Static } from 'typebox/type'
import { AT, key, LATER, owner, session } from '../examples.ts'
import type { KeySchema } from './fields.ts'

/** A new key with its secret text. */
export const newKey = {
  ...key,
  ...owner,
  label: 'agent-shopping',
  scopes: ['subscriptions.write'],
}

/** A key as lists and changes show it. */
export const listedKey: Static<typeof KeySchema> = {
  id: key.userKeyId,
  keyPrefix: key.keyPrefix,
  label: newKey.label,
  lineageId: key.userKeyId,
  parentLineageId: 'Q7r8S9t0U1v2W3x4',
  scopes: newKey.scopes,
  policy: { maxAuthAmountCents: 5000 },
  console: false,
  createdBy: { keyId: 'Q7r8S9t0U1v2W3x4', sessionId: session.sessionId },
  rotatedBy: null,
  createdAt: AT,
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
  pauses: [],
}

/** The same key, paused. */
export const pausedKey: typeof listedKey = {
  ...listedKey,
  pauses: [{ lineageId: key.userKeyId, by: 'owner', at: LATER }],
}

/** The same key, revoked. */
export const revokedKey: typeof listedKey = { ...listedKey, revokedAt: LATER }
