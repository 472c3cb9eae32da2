import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Authenticated encryption of a text, bound to a context that is not secret. */
export interface Seal {
  close(text: string, context: string): string
  /** Undefined when it was sealed with another key or context, or has been changed. */
  open(sealed: string, context: string): string | undefined
}

/**
 * AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce: `v1.<nonce>.<ciphertext>.<tag>` in base64url. Throws
 * a `TypeError` unless the key is 32 bytes. The sets sealed are few, far from the 2^32 a random nonce allows.
 */
export function createSeal(key: Uint8Array): Seal {
  if (!(key instanceof Uint8Array) || key.length !== 32) {
    throw new TypeError('encryptionKey must be 32 bytes')
  }
  return {
    close(text, context) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      const parts = [nonce, body, cipher.getAuthTag()].map(part => part.toString('base64url'))
      return ['v1', ...parts].join('.')
    },
    open(sealed, context) {
      const [version, ...parts] = sealed.split('.')
      const [nonce, body, tag] = parts.map(part => Buffer.from(part, 'base64url'))
      if (version !== 'v1' || parts.length !== 3 || nonce?.length !== 12 || tag?.length !== 16)
        return undefined
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
        .setAAD(Buffer.from(context))
        .setAuthTag(tag)
      try {
        return Buffer.concat([decipher.update(body as Buffer), decipher.final()]).toString('utf8')
      } catch {
        // GCM's only failure: the tag does not fit. What was decrypted is thrown away.
        return undefined
      }
    },
  }
}
