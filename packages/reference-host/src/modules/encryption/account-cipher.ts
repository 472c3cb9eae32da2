import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto'
import type { AccountKeys } from './account-keys.ts'

/** An encrypted text. The client keeps it; the host stores none. */
export interface EncryptedText {
  readonly v: 1
  /** 12 bytes, base64url without padding. */
  readonly iv: string
  /** Ciphertext and 16-byte tag, base64url without padding. */
  readonly ct: string
}

/** Why a value was not encrypted or decrypted. */
export type CipherProblem = 'undecryptable' | 'too_long' | 'malformed'

/** The result for one value. */
export type CipherResult<T> = { readonly value: T } | { readonly problem: CipherProblem }

/** Encrypts texts with AES-256-GCM under the key of an account. No other account can decrypt them. */
export interface AccountCipher {
  /** Returns one result per value, in the same order. An invalid value does not affect the others. */
  encrypt(accountId: string, values: readonly unknown[]): Promise<readonly CipherResult<EncryptedText>[]>
  /** Like `encrypt`. An account without a key gets `undecryptable` for every well-formed value. */
  decrypt(accountId: string, values: readonly unknown[]): Promise<readonly CipherResult<string>[]>
}

/** Maximum length of a text, in bytes of UTF-8. */
const MAX_BYTES = 4096
const VERSION = 1
const IV_BYTES = 12
const TAG_BYTES = 16
/** The length of the longest ciphertext with its tag, in padded base64. */
const MAX_CHARACTERS = Math.ceil((MAX_BYTES + TAG_BYTES) / 3) * 4

/** Makes the cipher of accounts. */
export function accountCipher(keys: AccountKeys): AccountCipher {
  return {
    async encrypt(accountId, values) {
      const key = await keys.findOrCreate(accountId)
      const bound = boundTo(accountId)
      return values.map(value => encryptText(key, bound, value))
    },
    async decrypt(accountId, values) {
      const key = await keys.find(accountId)
      const bound = boundTo(accountId)
      return values.map(value => decryptText(key, bound, value))
    },
  }
}

function boundTo(accountId: string): Buffer {
  return Buffer.from(`gw-data|${accountId}|${VERSION}`)
}

function encryptText(key: KeyObject, bound: Buffer, text: unknown): CipherResult<EncryptedText> {
  if (typeof text !== 'string') return { problem: 'malformed' }
  if (Buffer.byteLength(text) > MAX_BYTES) return { problem: 'too_long' }
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(bound)
  const ct = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return { value: { v: VERSION, iv: iv.toString('base64url'), ct: ct.toString('base64url') } }
}

function decryptText(key: KeyObject | undefined, bound: Buffer, given: unknown): CipherResult<string> {
  if (typeof given !== 'object' || given === null) return { problem: 'malformed' }
  const { v, iv: ivText, ct: ctText } = given as Readonly<Record<string, unknown>>
  if (typeof ctText === 'string' && ctText.length > MAX_CHARACTERS) return { problem: 'too_long' }
  const [iv, ct] = [bytesOf(ivText), bytesOf(ctText)]
  if (v !== VERSION || iv?.length !== IV_BYTES || ct === undefined || ct.length < TAG_BYTES)
    return { problem: 'malformed' }
  if (key === undefined) return { problem: 'undecryptable' }
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
    .setAAD(bound)
    .setAuthTag(ct.subarray(ct.length - TAG_BYTES))
  try {
    const text = decipher.update(ct.subarray(0, ct.length - TAG_BYTES), undefined, 'utf8')
    return { value: text + decipher.final('utf8') }
  } catch {
    return { problem: 'undecryptable' }
  }
}

/**
 * Decodes base64url, or base64 with padding. Returns undefined for any other text, which the decoder of Node would decode in
 * part.
 */
function bytesOf(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || text.length > MAX_CHARACTERS) return undefined
  const padded = text.length % 4 === 0 && text.endsWith('=')
  const plain = (padded ? text.replace(/={1,2}$/, '') : text).replaceAll('+', '-').replaceAll('/', '_')
  const bytes = Buffer.from(plain, 'base64url')
  return bytes.toString('base64url') === plain ? bytes : undefined
}
