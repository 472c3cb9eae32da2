import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Fault } from '@gatewright/kernel'

/** One key of the key ring `DATA_KEYS`. */
export interface RingKey {
  readonly id: string
  /** 32 bytes. */
  readonly secret: Uint8Array
}

/**
 * Encrypts ("seals") texts with AES-256-GCM. Purpose and owner are additional authenticated data, so a text that was sealed for
 * one owner or purpose cannot be opened (decrypted) for another. The first key of the ring seals; every key of the ring can
 * open.
 */
export interface Sealer {
  seal(purpose: string, owner: string, text: string): string
  /**
   * Opens a sealed text from the database. Faults: `ERR_DATA_KEY_MISSING` if its key is not in the ring, `ERR_STORE_REPLY` if the
   * text was changed, or was sealed for another purpose or owner.
   */
  open(purpose: string, owner: string, sealed: string): string
  /** Opens a sealed text that a client sent back. Returns undefined unless this ring sealed it for this purpose and owner. */
  openFromClient(purpose: string, owner: string, sealed: string): string | undefined
  /** Whether a text was sealed with the first key of the ring. */
  isCurrent(sealed: string): boolean
}

const IV_BYTES = 12
const TAG_BYTES = 16
/** Key id, then base64url of IV, ciphertext and tag. */
const SEALED = /^([\w-]{1,32})\.([\w-]{38,})$/

/** Makes the sealer of a key ring, newest key first. Throws a `TypeError` for an empty ring. */
export function createSealer(ring: readonly RingKey[]): Sealer {
  const [first] = ring
  if (!first) throw new TypeError('DATA_KEYS must have at least one key, got none')
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
        throw new Fault(
          'ERR_DATA_KEY_MISSING',
          `DATA_KEYS has no key "${id}", with which a ${purpose} is sealed: add the key again`,
        )
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
  // The decoder ignores unused bits of the last character. Without this check several texts would be the same token, and a
  // one-time token, whose text is stored when it is used, could be used again.
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
  return new Fault(
    'ERR_STORE_REPLY',
    `a sealed ${purpose} cannot be opened: the stored text was changed, or is of another account: restore the record from a backup`,
  )
}
