import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Fault } from '@gatewright/kernel'

/** A key of the ring `DATA_KEYS`. */
export interface RingKey {
  readonly id: string
  /** 32 bytes. */
  readonly secret: Uint8Array
}

/**
 * Encrypts texts with AES-256-GCM. Purpose and owner are additional data: a text that was sealed for one owner, or for one
 * purpose, does not open for another. Every key of the ring opens, the first one seals.
 */
export interface Sealer {
  seal(purpose: string, owner: string, text: string): string
  /**
   * Opens a stored column. Faults: `ERR_DATA_KEY_MISSING` when its key is no longer in the ring, `ERR_STORE_REPLY` when the column
   * was changed.
   */
  open(purpose: string, owner: string, sealed: string): string
  /** Opens a text that a client brought; undefined for anything that was not sealed here for this purpose and owner. */
  openFromClient(purpose: string, owner: string, sealed: string): string | undefined
  /** Whether the first key of the ring sealed it. */
  isCurrent(sealed: string): boolean
}

const IV_BYTES = 12
const TAG_BYTES = 16
/** Key id, then base64url of IV, ciphertext and tag. */
const SEALED = /^([\w-]{1,32})\.([\w-]{38,})$/

/** Makes the sealer of a ring, newest key first. Throws a `TypeError` for an empty ring. */
export function createSealer(ring: readonly RingKey[]): Sealer {
  const [first] = ring
  if (!first) throw new TypeError('DATA_KEYS must name at least one key')
  const keys = new Map(ring.map(key => [key.id, key.secret]))

  return {
    seal(purpose, owner, text) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', first.secret, iv).setAAD(boundTo(purpose, owner))
      const bytes = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${first.id}.${bytes.toString('base64url')}`
    },
    open(purpose, owner, sealed) {
      const [id, bytes] = partsOf(sealed) ?? []
      if (id === undefined || bytes === undefined) throw changed(purpose)
      const key = keys.get(id)
      if (!key)
        throw new Fault('ERR_DATA_KEY_MISSING', `DATA_KEYS has no key "${id}", which sealed a ${purpose}`)
      const text = opened(key, boundTo(purpose, owner), bytes)
      if (text === undefined) throw changed(purpose)
      return text
    },
    openFromClient(purpose, owner, sealed) {
      const [id, bytes] = partsOf(sealed) ?? []
      const key = id === undefined ? undefined : keys.get(id)
      return key && bytes && opened(key, boundTo(purpose, owner), bytes)
    },
    isCurrent: sealed => sealed.startsWith(`${first.id}.`),
  }
}

function boundTo(purpose: string, owner: string): Buffer {
  return Buffer.from(JSON.stringify([purpose, owner]))
}

function partsOf(sealed: string): [id: string, bytes: Buffer] | undefined {
  const [, id, text] = SEALED.exec(sealed) ?? []
  if (id === undefined || text === undefined) return undefined
  const bytes = Buffer.from(text, 'base64url')
  // One text for one value: the decoder ignores spare bits, and a token that is used once is known by its text.
  return bytes.toString('base64url') === text ? [id, bytes] : undefined
}

function opened(key: Uint8Array, additionalData: Buffer, bytes: Buffer): string | undefined {
  const iv = bytes.subarray(0, IV_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
    .setAAD(additionalData)
    .setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
  const ciphertext = bytes.subarray(IV_BYTES, bytes.length - TAG_BYTES)
  try {
    return decipher.update(ciphertext, undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}

function changed(purpose: string): Fault {
  return new Fault('ERR_STORE_REPLY', `a sealed ${purpose} was changed in the store`)
}
