import { malformedReply } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import type { AuditEntry } from './audit-port.ts'
import type { KeyCreator, KeyPause, KeyRecord, KeyUse, PolicyRecord, SessionRecord } from './port.ts'

export { endOf } from '../key.ts'
export { isAfter, newestFirst } from '../list-order.ts'

/** Returns a key with a use recorded. */
export function keyUsed(key: KeyRecord, { at, rehash }: KeyUse): KeyRecord {
  return { ...key, ...rehash, lastUsedAt: Math.max(key.lastUsedAt ?? at, at) }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0
const isTextOrNull = (value: unknown): boolean => value === null || isText(value)
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isInteger = (value: unknown): boolean => Number.isSafeInteger(value)
const isIntegerOrNull = (value: unknown): boolean => value === null || isInteger(value)
const isSurface = (value: unknown): value is Surface => value === 'user' || value === 'partner'

const isCreator = (value: unknown): boolean => {
  const { keyId, lineageId, sessionIds } = Object(value) as Partial<KeyCreator>
  return isText(keyId) && isText(lineageId) && isTextList(sessionIds)
}
const isPauseList = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every(each => {
    const { lineageId, by, at } = Object(each) as Partial<KeyPause>
    return isText(lineageId) && (by === 'owner' || by === 'operator') && isInteger(at)
  })
const isCreatorOrNull = (value: unknown): boolean => value === null || isCreator(value)

type Shape = Readonly<Record<string, (value: unknown) => boolean>>

const KEY: Shape = {
  id: isText,
  prefix: isText,
  label: isTextOrNull,
  surface: isSurface,
  accountId: isText,
  userId: isTextOrNull,
  walletAddress: isTextOrNull,
  scopes: isTextList,
  policyIds: isTextList,
  inheritedPolicies: isInteger,
  lineageId: isText,
  ancestry: isTextList,
  parentId: isTextOrNull,
  createdBy: isCreatorOrNull,
  rotatedBy: isCreatorOrNull,
  successorId: isTextOrNull,
  version: isInteger,
  createdAt: isInteger,
  expiresAt: isIntegerOrNull,
  revokedAt: isIntegerOrNull,
  pauses: isPauseList,
  lastUsedAt: isIntegerOrNull,
  console: value => typeof value === 'boolean',
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
  keyVersion: isInteger,
  policyIds: isTextList,
  scopes: isTextList,
  issuedAt: isInteger,
  expiresAt: isInteger,
  ancestry: isTextList,
  label: isTextOrNull,
  revokedAt: isIntegerOrNull,
}

const AUDIT: Shape = {
  id: isText,
  accountId: isText,
  at: isInteger,
  expiresAt: isInteger,
  by: isText,
  keyId: isTextOrNull,
  sessionId: isTextOrNull,
  action: isText,
  target: isText,
  label: isTextOrNull,
  scopes: value => value === null || isTextList(value),
  policyIds: isTextList,
}

function read(shape: Shape, what: string, value: unknown): Record<string, unknown> {
  const record = Object(value) as Record<string, unknown>
  const entries = Object.entries(shape).map(([name, isValid]) => {
    if (!isValid(record[name])) throw malformedReply('store', what)
    return [name, record[name]]
  })
  return Object.fromEntries(entries)
}

/** Parses a stored key and drops unknown members. Fault: `ERR_STORE_REPLY`. */
export function readKey(value: unknown): KeyRecord {
  // Keys stored by versions that did not record creators, or had no consoles or pauses, lack these members.
  const record = {
    createdBy: null,
    rotatedBy: null,
    console: false,
    pauses: [],
    ...(Object(value) as object),
  }
  return read(KEY, 'an API key', record) as unknown as KeyRecord
}

/** Parses a stored session and drops unknown members. Fault: `ERR_STORE_REPLY`. */
export function readSession(value: unknown): SessionRecord {
  return read(SESSION, 'a session', value) as unknown as SessionRecord
}

/** Parses a stored audit row and drops unknown members. Fault: `ERR_STORE_REPLY`. */
export function readAuditEntry(value: unknown): AuditEntry {
  return read(AUDIT, 'an audit row', value) as unknown as AuditEntry
}

/** Parses a stored policy. Fault: `ERR_STORE_REPLY`. */
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
