import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import { checkOptions } from '@gatewright/kernel/internal'

/** A secret of the server that key digests depend on, so that a key cannot be guessed from a copy of the database alone. */
export interface Pepper {
  /** Stored with each digest: 1 to 32 of A-Z, a-z, 0-9, `-` and `_`. */
  readonly id: string
  /** At least 32 bytes of UTF-8 or raw bytes. */
  readonly secret: string | Uint8Array
}

/** The stored digest of a key. It begins with the name of its scheme, so that a later version can distinguish schemes. */
interface KeyDigest {
  readonly digest: string
  readonly pepperId: string
}

/** Digests and compares key texts. */
export interface KeyDigester {
  /** Digests under the first pepper. */
  digest(text: string): KeyDigest
  /**
   * Makes the function that compares presented texts with a stored digest, in constant time. It is false for every text
   * when the digest's scheme is unknown. Undefined: the digest's pepper is unknown, so no text can be compared.
   */
  matcher(stored: KeyDigest): ((text: string) => boolean) | undefined
  /** Whether a digest depends on another pepper than the first. */
  isOld(stored: KeyDigest): boolean
}

const SCHEME = 'hmac-sha256:'

/**
 * Checks the peppers and makes the digester. New keys are digested with the first pepper; texts are compared under each of
 * them. Throws a `TypeError`, which never contains a secret.
 */
export function createKeyDigester(peppers: readonly Pepper[]): KeyDigester {
  if (!Array.isArray(peppers) || peppers.length === 0) {
    throw new TypeError('peppers must be a list of at least one { id, secret }')
  }
  const byId = new Map<string, KeyObject>()
  for (const [index, pepper] of (peppers as readonly Pepper[]).entries()) {
    const { id, secret } = checkOptions(`createIssuer peppers[${index}]`, pepper, { id: true, secret: true })
    if (typeof id !== 'string' || !/^[\w-]{1,32}$/.test(id)) {
      throw new TypeError('peppers: an id must be 1 to 32 of A-Z, a-z, 0-9, - and _')
    }
    const bytes = typeof secret === 'string' ? Buffer.from(secret) : secret
    if (!(bytes instanceof Uint8Array) || bytes.length < 32) {
      throw new TypeError(`peppers: the secret of "${id}" must have at least 32 bytes`)
    }
    if (byId.has(id)) throw new TypeError(`peppers: the id "${id}" is given twice`)
    byId.set(id, createSecretKey(bytes))
  }
  const first = (peppers[0] as Pepper).id
  const hash = (text: string, pepper: KeyObject): Buffer => createHmac('sha256', pepper).update(text).digest()

  return {
    digest: text => ({
      digest: SCHEME + hash(text, byId.get(first) as KeyObject).toString('base64url'),
      pepperId: first,
    }),
    matcher({ digest, pepperId }) {
      const pepper = byId.get(pepperId)
      const stored = Buffer.from(digest.startsWith(SCHEME) ? digest.slice(SCHEME.length) : '', 'base64url')
      if (!pepper) return undefined
      if (stored.length !== 32) return () => false
      return text => timingSafeEqual(stored, hash(text, pepper))
    },
    isOld: ({ pepperId }) => pepperId !== first,
  }
}
