import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Authenticated encryption of texts, each bound to a context that is not secret. */
interface TextCipher {
  encrypt(text: string, context: string): string
  /** Undefined if the text was encrypted with another key or context, or was changed. */
  decrypt(encrypted: string, context: string): string | undefined
}

/**
 * Makes a cipher for AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce: `v1.<nonce>.<ciphertext>.<tag>` in
 * base64url. Throws a `TypeError` unless the key is 32 bytes. Far fewer texts are encrypted than the 2^32 that random
 * nonces allow.
 */
export function createTextCipher(key: Uint8Array): TextCipher {
  if (!(key instanceof Uint8Array) || key.length !== 32) {
    throw new TypeError('encryptionKey must be 32 bytes')
  }
  return {
    encrypt(text, context) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      const parts = [nonce, body, cipher.getAuthTag()].map(part => part.toString('base64url'))
      return ['v1', ...parts].join('.')
    },
    decrypt(encrypted, context) {
      const [version, ...parts] = encrypted.split('.')
      const [nonce, body, tag] = parts.map(part => Buffer.from(part, 'base64url'))
      if (version !== 'v1' || parts.length !== 3 || nonce?.length !== 12 || tag?.length !== 16)
        return undefined
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
        .setAAD(Buffer.from(context))
        .setAuthTag(tag)
      try {
        return Buffer.concat([decipher.update(body as Buffer), decipher.final()]).toString('utf8')
      } catch {
        // GCM fails only when the tag does not match. The decrypted bytes are discarded.
        return undefined
      }
    },
  }
}
