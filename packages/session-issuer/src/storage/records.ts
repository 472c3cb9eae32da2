import { malformedReply, type Surface } from '@gatewright/kernel'
import type { AuditEntry } from './audit-port.ts'
import type { KeyMaker, KeyRecord, KeyUse, PolicyRecord, SessionRecord } from './port.ts'

export { endOf } from '../keys/key.ts'

/** A key after a use of it. */
export function keyUsed(key: KeyRecord, { at, rehash }: KeyUse): KeyRecord {
  return { ...key, ...rehash, lastUsedAt: Math.max(key.lastUsedAt ?? at, at) }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0
const isTextOrNull = (value: unknown): boolean => value === null || isText(value)
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value)
const isWholeOrNull = (value: unknown): boolean => value === null || isWhole(value)
const isSurface = (value: unknown): value is Surface => value === 'user' || value === 'partner'

const isMaker = (value: unknown): boolean => {
  const { keyId, lineageId, sessionIds } = Object(value) as Partial<KeyMaker>
  return isText(keyId) && isText(lineageId) && isTexts(sessionIds)
}
const isMakerOrNull = (value: unknown): boolean => value === null || isMaker(value)

type Shape = Readonly<Record<string, (value: unknown) => boolean>>

const KEY: Shape = {
  id: isText,
  prefix: isText,
  surface: isSurface,
  accountId: isText,
  userId: isTextOrNull,
  walletAddress: isTextOrNull,
  scopes: isTexts,
  policyIds: isTexts,
  inheritedPolicies: isWhole,
  lineageId: isText,
  ancestry: isTexts,
  parentId: isTextOrNull,
  createdBy: isMakerOrNull,
  rotatedBy: isMakerOrNull,
  successorId: isTextOrNull,
  version: isWhole,
  createdAt: isWhole,
  expiresAt: isWholeOrNull,
  revokedAt: isWholeOrNull,
  lastUsedAt: isWholeOrNull,
  digest: isText,
  pepperId: isText,
}

const SESSION: Shape = {
  sessionId: isText,
  accountId: isText,
  userId: isTextOrNull,
  walletAddress: isTextOrNull,
  surface: isSurface,
  keyId: isText,
  keyVersion: isWhole,
  policyIds: isTexts,
  scopes: isTexts,
  issuedAt: isWhole,
  expiresAt: isWhole,
  ancestry: isTexts,
  label: isTextOrNull,
  revokedAt: isWholeOrNull,
}

const AUDIT: Shape = {
  id: isText,
  accountId: isText,
  at: isWhole,
  expiresAt: isWhole,
  by: isText,
  keyId: isTextOrNull,
  sessionId: isTextOrNull,
  action: isText,
  target: isText,
  scopes: value => value === null || isTexts(value),
  policyIds: isTexts,
}

function read(shape: Shape, what: string, value: unknown): Record<string, unknown> {
  const record = Object(value) as Record<string, unknown>
  const entries = Object.entries(shape).map(([name, fits]) => {
    if (!fits(record[name])) throw malformedReply('store', what)
    return [name, record[name]]
  })
  return Object.fromEntries(entries)
}

/** Reads a stored key; what it does not know is left out. Fault: `ERR_STORE_REPLY`. */
export function readKey(value: unknown): KeyRecord {
  // Keys stored before makers were recorded have none.
  const record = { createdBy: null, rotatedBy: null, ...(Object(value) as object) }
  return read(KEY, 'an API key', record) as unknown as KeyRecord
}

/** Reads a stored session; what it does not know is left out. Fault: `ERR_STORE_REPLY`. */
export function readSession(value: unknown): SessionRecord {
  return read(SESSION, 'a session', value) as unknown as SessionRecord
}

/** Reads a stored audit row; what it does not know is left out. Fault: `ERR_STORE_REPLY`. */
export function readAuditEntry(value: unknown): AuditEntry {
  return read(AUDIT, 'an audit row', value) as unknown as AuditEntry
}

/** Reads a stored policy. Fault: `ERR_STORE_REPLY`. */
export function readPolicy(id: unknown, document: unknown): PolicyRecord {
  if (!isText(id)) throw malformedReply('store', 'a policy')
  return { id, document: parse(document) }
}

/** Parses a stored JSON text. Fault: `ERR_STORE_REPLY`. */
export function parse(text: unknown): unknown {
  try {
    return JSON.parse(text as string) as unknown
  } catch {
    throw malformedReply('store', 'JSON')
  }
}
