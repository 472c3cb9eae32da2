import { Fault } from '@gatewright/kernel'
import { isUint8Array } from '../is-uint8-array.ts'
import type { BeginResult, Ending, IdempotencyStorage, TransactionStorage } from '../storage/port.ts'

/** A key that encrypts stored responses. */
interface ResponseKey {
  /** Stored with each response: 1 to 64 letters, digits, `-` and `_`. A key is never given the id of another one. */
  readonly id: string
  /** 32 random bytes. */
  readonly key: Uint8Array
}

/** How stored responses are encrypted. */
export interface ResponseEncryption {
  /**
   * The newest first: it encrypts. The others decrypt what they have encrypted: keep a key for `retentionMs` after a newer one was
   * added, on every host before that one encrypts. At least one. Replace a key before it has encrypted 4 billion (2^32) responses: beyond
   * that, two of them may get the same random nonce, which would break their encryption.
   */
  readonly keys: readonly ResponseKey[]
}

/** What an encrypted response begins with. No plain one does: it begins with a digit or a brace. */
const MARK = 'e1.'

/** Throws a `TypeError` unless the option is as declared. */
export function checkEncryption(where: string, encryption: ResponseEncryption | undefined): void {
  if (encryption === undefined) return
  const keys: unknown = encryption?.keys
  if (!Array.isArray(keys) || keys.length === 0)
    throw new TypeError(`${where}: encryption.keys must be a list of at least one { id, key }`)
  const ids = new Set<unknown>()
  for (const [at, each] of keys.entries()) {
    const { id, key } = (each ?? {}) as Partial<ResponseKey>
    if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id))
      throw new TypeError(`${where}: encryption.keys[${at}].id must be 1 to 64 letters, digits, - and _`)
    if (!isUint8Array(key) || key.length !== 32)
      throw new TypeError(`${where}: encryption.keys[${at}].key must be a Uint8Array of 32 bytes`)
    if (ids.has(id)) throw new TypeError(`${where}: encryption.keys has the id ${id} twice`)
    ids.add(id)
  }
}

/**
 * Returns a storage that encrypts responses with AES-256-GCM before it stores them, bound to their key; with Web Crypto, which every
 * runtime has. Without the option it is the given storage. Responses that were stored without encryption are still read. Faults when a
 * response is read: `ERR_DATA_KEY_MISSING` for an unknown id of a key, `ERR_STORE_REPLY` for a response that was changed, or that belongs
 * to another record.
 */
export function encrypted<S extends IdempotencyStorage | TransactionStorage>(
  storage: S,
  encryption: ResponseEncryption | undefined,
): S {
  if (!encryption) return storage
  const cipher = cipherOf(encryption)
  // A repeated ending must have the same text as the first, and every encryption gives another one.
  const texts = new WeakMap<Ending, Promise<string>>()
  const sealed = async (key: string, ending: Ending): Promise<Ending> => {
    if (ending.state !== 'done') return ending
    let text = texts.get(ending)
    if (!text) {
      text = cipher.encrypt(key, ending.response)
      texts.set(ending, text)
    }
    return { ...ending, response: await text }
  }
  const opened = async <R extends BeginResult | undefined>(key: string, result: R): Promise<R> =>
    result?.state === 'done' ? { ...result, response: await cipher.decrypt(key, result.response) } : result
  const wrapped: IdempotencyStorage = {
    begin: async (key, ...rest) => opened(key, await storage.begin(key, ...rest)),
    end: async (key, fence, ending, now) => storage.end(key, fence, await sealed(key, ending), now),
    extend: (...args) => storage.extend(...args),
    takeOver: (...args) => storage.takeOver(...args),
    listLost: page => storage.listLost(page),
    find: key => storage.find(key),
    collect: (...args) => storage.collect(...args),
  }
  const { endLast }: Partial<TransactionStorage> = storage
  const inTransaction: Pick<TransactionStorage, 'endLast'> = {
    ...(endLast && {
      endLast: async (key, fence, ending, now) =>
        endLast.call(storage, key, fence, await sealed(key, ending), now),
    }),
  }
  return { ...wrapped, ...inTransaction } as S
}

type ImportedKey = Awaited<ReturnType<typeof globalThis.crypto.subtle.importKey>>

interface Cipher {
  /** Encrypts a text with the newest key. `context` is authenticated with it. */
  encrypt(context: string, text: string): Promise<string>
  /** Decrypts a text. A text that is not encrypted is returned unchanged. */
  decrypt(context: string, text: string): Promise<string>
}

const ciphers = new WeakMap<ResponseEncryption, Cipher>()

/** Returns the cipher of the option. It is made once, because a storage is wrapped for every transaction. */
function cipherOf(encryption: ResponseEncryption): Cipher {
  let cipher = ciphers.get(encryption)
  if (!cipher) {
    cipher = makeCipher(encryption)
    ciphers.set(encryption, cipher)
  }
  return cipher
}

function makeCipher({ keys }: ResponseEncryption): Cipher {
  const { subtle } = globalThis.crypto
  const [newest] = keys as readonly [ResponseKey]
  const imported = new Map<string, Promise<ImportedKey>>()
  const keyOf = ({ id, key }: ResponseKey): Promise<ImportedKey> => {
    let found = imported.get(id)
    if (!found) {
      found = subtle.importKey('raw', new Uint8Array(key), 'AES-GCM', false, ['encrypt', 'decrypt'])
      imported.set(id, found)
    }
    return found
  }
  const encoder = new TextEncoder()
  const parameters = (iv: Uint8Array<ArrayBuffer>, context: string) => ({
    name: 'AES-GCM',
    iv,
    additionalData: encoder.encode(context),
  })
  return {
    async encrypt(context, text) {
      const iv = globalThis.crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const sealed = await subtle.encrypt(parameters(iv, context), await keyOf(newest), encoder.encode(text))
      return `${MARK}${newest.id}.${toBase64(iv)}.${toBase64(new Uint8Array(sealed))}`
    },
    async decrypt(context, text) {
      if (!text.startsWith(MARK)) return text
      const [id = '', iv = '', sealed = ''] = text.slice(MARK.length).split('.')
      const key = keys.find(each => each.id === id)
      if (!key)
        throw new Fault(
          'ERR_DATA_KEY_MISSING',
          `a stored response is encrypted with the key ${id.slice(0, 64)}: add it to encryption.keys again`,
        )
      try {
        const opened = await subtle.decrypt(
          parameters(fromBase64(iv), context),
          await keyOf(key),
          fromBase64(sealed),
        )
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(opened)
      } catch (cause) {
        throw new Fault(
          'ERR_STORE_REPLY',
          `a stored response cannot be decrypted with the key ${id}: it was changed, or this key has other bytes than the one that encrypted it`,
          { cause },
        )
      }
    },
  }
}

const NONCE_BYTES = 12
/** So many bytes are converted at once: `String.fromCharCode` takes a limited number of arguments. */
const CHUNK = 8192

function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK)
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(binary)
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}
