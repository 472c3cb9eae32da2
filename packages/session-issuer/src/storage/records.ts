import { malformedReply, type Surface } from '@gatewright/kernel'
import type { KeyRecord, KeyUse, PolicyRecord, SessionRecord } from './port.ts'

export { endOf } from '../key.ts'

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
  return read(KEY, 'an API key', value) as unknown as KeyRecord
}

/** Reads a stored session; what it does not know is left out. Fault: `ERR_STORE_REPLY`. */
export function readSession(value: unknown): SessionRecord {
  return read(SESSION, 'a session', value) as unknown as SessionRecord
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
