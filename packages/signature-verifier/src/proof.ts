import { parseInstant } from '@gatewright/kernel/internal'
import type { EpochMs } from '@gatewright/kernel'
import { invalidRequest, invalidSignature, type ProofDenial } from './codes.ts'
import type { Keccak256 } from './signatures/recover.ts'
import { parseHex } from './signatures/ecdsa.ts'
import { isPlainLine, looksLikeField } from './templates/plain-text.ts'

/**
 * A wallet proof as the client sent it: no field is trusted before it is checked. A template of the host's own may use
 * more fields than these.
 */
export interface WalletProof {
  readonly address?: unknown
  readonly signature?: unknown
  readonly nonce?: unknown
  readonly issuedAt?: unknown
  readonly expiresAt?: unknown
  readonly connector?: unknown
  readonly chainId?: unknown
  readonly walletLabel?: unknown
  /** Names one template, so that only this one is tried. */
  readonly template?: unknown
  /** The signed text itself, for templates that cannot be rendered from the fields. */
  readonly message?: unknown
  readonly [field: string]: unknown
}

/** The fields of the host that templates may use. */
interface HostFields {
  readonly service: string
  readonly domain: string | undefined
  readonly requestDigest: string | undefined
}

/** A proof whose fields all have the right format. */
export interface Statement {
  /** Lower-case. */
  readonly address: string
  readonly signature: Uint8Array
  readonly nonce: string
  readonly issuedAt: EpochMs
  readonly expiresAt: EpochMs
  /**
   * Fields as sent, and those of the host, for rendering. Optional fields that are absent, null or empty are undefined.
   */
  readonly fields: Readonly<Record<string, string | undefined>>
  readonly template: string | undefined
  readonly message: string | undefined
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const NONCE = /^[\x21-\x7e]{8,128}$/
const MAX_FIELD_LENGTH = 120
const MAX_MESSAGE_LENGTH = 8192

/** Validates an optional text field: returns a denial unless it is a single line of plain text. */
function validateLine(field: string, value: unknown): ProofDenial | undefined {
  if (typeof value !== 'string') return invalidRequest(field, 'must be text')
  if (value.length > MAX_FIELD_LENGTH)
    return invalidRequest(field, `must have at most ${MAX_FIELD_LENGTH} characters`)
  if (!isPlainLine(value)) return invalidRequest(field, 'must be one line without control characters')
  if (looksLikeField(value)) return invalidRequest(field, 'must not look like another field')
  return undefined
}

/** Whether an optional field is absent. Null and empty count as absent, because clients send `value || "unknown"`. */
export const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ''

/** Reads `chainId`, a number or a text. A text is rendered as sent. 0 means absent. */
function readChainId(chainId: unknown): string | undefined | ProofDenial {
  if (isAbsent(chainId) || chainId === 0) return undefined
  if (typeof chainId !== 'number') return validateLine('chainId', chainId) ?? (chainId as string)
  if (Number.isSafeInteger(chainId) && chainId > 0) return String(chainId)
  return invalidRequest('chainId', 'must be a positive integer')
}

/** Reads an address and returns it in lower case, or false. */
export function readAddress(address: unknown): string | false {
  return typeof address === 'string' && ADDRESS.test(address) && address.toLowerCase()
}

/** Reads the optional text fields into `fields`; returns the first denial. */
function readLines(
  proof: WalletProof,
  names: readonly string[],
  fields: Record<string, string | undefined>,
): ProofDenial | undefined {
  for (const name of names) {
    const value = proof[name]
    if (isAbsent(value)) continue
    const denial = validateLine(name, value)
    if (denial) return denial
    fields[name] = value as string
  }
  return undefined
}

/** Validates `template` and `message`, which choose and contain the signed text. Undefined if both are well formed. */
export function validateText({ template, message }: WalletProof): ProofDenial | undefined {
  const denial = isAbsent(template) ? undefined : validateLine('template', template)
  if (denial || message === undefined || message === null) return denial
  if (typeof message !== 'string') return invalidRequest('message', 'must be text')
  if (message.length <= MAX_MESSAGE_LENGTH) return undefined
  return invalidRequest('message', `must have at most ${MAX_MESSAGE_LENGTH} characters`)
}

/**
 * Checks the format of every field, without a clock or a hash; the signature's bytes come last. `lines` are the
 * optional fields that templates use. Denial: `invalid_request` naming the first wrong field.
 */
export function readStatement(
  proof: WalletProof,
  lines: readonly string[],
  host: HostFields,
): Statement | ProofDenial {
  if (typeof proof !== 'object' || proof === null) return invalidRequest('body', 'must be an object')
  const { address, nonce, issuedAt, expiresAt, template, message } = proof
  const wallet = readAddress(address)
  if (wallet === false) return invalidRequest('address', 'must be 0x and 40 hex digits')
  if (typeof nonce !== 'string' || !NONCE.test(nonce)) {
    return invalidRequest('nonce', 'must be 8 to 128 visible ASCII characters')
  }
  const issued = parseInstant(issuedAt)
  if (issued === undefined) return invalidRequest('issuedAt', 'must be an RFC 3339 date-time')
  const expires = parseInstant(expiresAt)
  if (expires === undefined) return invalidRequest('expiresAt', 'must be an RFC 3339 date-time')
  const chainId = readChainId(proof.chainId)
  if (typeof chainId === 'object') return chainId
  const fields: Record<string, string | undefined> = {
    address: address as string,
    nonce,
    issuedAt: issuedAt as string,
    expiresAt: expiresAt as string,
    chainId,
    service: host.service,
    domain: host.domain,
    requestDigest: host.requestDigest,
  }
  const denial = readLines(proof, lines, fields) ?? validateText(proof)
  if (denial) return denial
  const signature = parseHex(proof.signature)
  if (!signature) return invalidRequest('signature', 'must be 0x and whole bytes of hex, at most 16 KiB')
  return {
    address: wallet,
    signature,
    nonce,
    issuedAt: issued,
    expiresAt: expires,
    fields,
    template: isAbsent(template) ? undefined : (template as string),
    message: (message ?? undefined) as string | undefined,
  }
}

/** How far a client's clock may be ahead, in ms. Clocks of phones that are set by hand are rarely further off. */
export const MAX_SKEW_MS = 60_000

/**
 * Validates the times: `issuedAt < expiresAt`, at most `windowMs` between them (inclusive), `issuedAt <= now + MAX_SKEW_MS`
 * (inclusive), and `now < expiresAt` (exclusive: at `expiresAt` the statement has expired, with no tolerance). Denials:
 * `invalid_request` for a window that no statement may have, `invalid_signature` for the wrong time.
 */
export function validateTimes(
  { issuedAt, expiresAt }: Statement,
  now: EpochMs,
  windowMs: number,
): ProofDenial | undefined {
  if (expiresAt <= issuedAt) return invalidRequest('expiresAt', 'must be after issuedAt')
  if (expiresAt - issuedAt > windowMs) {
    return invalidRequest('expiresAt', `must be at most ${windowMs / 1000} s after issuedAt`)
  }
  if (issuedAt > now + MAX_SKEW_MS) return invalidSignature('issued in the future')
  if (now >= expiresAt) return invalidSignature('expired')
  return undefined
}

/**
 * Validates the EIP-55 checksum of an address in mixed case: a letter is upper-case where the hash of the lower-case
 * digits has a nibble of 8 or more. An address all in lower or upper case carries no checksum.
 */
export function validateChecksum(
  { fields, address }: Statement,
  keccak256: Keccak256,
): ProofDenial | undefined {
  const digits = (fields['address'] as string).slice(2)
  const lower = address.slice(2)
  if (digits === lower || digits === digits.toUpperCase()) return undefined
  const hash = keccak256(Buffer.from(lower, 'latin1'))
  for (let index = 0; index < 20; index++) {
    const byte = hash[index] as number
    const [high, low] = [digits.charCodeAt(2 * index), digits.charCodeAt(2 * index + 1)]
    if (!hasCase(high, byte & 0x80) || !hasCase(low, byte & 0x08)) {
      return invalidRequest('address', 'has a wrong checksum (EIP-55)')
    }
  }
  return undefined
}

/**
 * Whether a hex digit is a decimal digit, or a letter in the case that the bit of the checksum demands: upper case if the bit
 * is set.
 */
const hasCase = (code: number, bit: number): boolean => code <= 57 || code < 97 === (bit !== 0)
