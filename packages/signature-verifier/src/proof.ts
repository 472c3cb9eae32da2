import type { EpochMs } from '@gatewright/kernel'
import { getAddress } from 'viem/utils'
import { invalidRequest, invalidSignature, type ProofDenial } from './codes.ts'
import { parseRfc3339 } from './rfc3339.ts'
import { parseHex } from './signature.ts'
import { isPlainLine, looksLikeField } from './text.ts'

/**
 * A wallet proof as it came in: every field is hostile until read. A template of the host's own may use more
 * fields than these.
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
  /** Names one template, so that only it is tried. */
  readonly template?: unknown
  /** The signed text itself, for templates that cannot be rendered from the fields. */
  readonly message?: unknown
  readonly [field: string]: unknown
}

/** A proof whose fields all have the right shape. */
export interface Statement {
  /** Lower-case. */
  readonly address: string
  readonly signature: Uint8Array
  readonly nonce: string
  readonly issuedAt: EpochMs
  readonly expiresAt: EpochMs
  /** Fields as sent, for rendering. Absent, null and empty optional fields are undefined. */
  readonly fields: Readonly<Record<string, string | undefined>>
  readonly template: string | undefined
  readonly message: string | undefined
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const NONCE = /^[\x21-\x7e]{8,128}$/
const MAX_FIELD_LENGTH = 120
const MAX_MESSAGE_LENGTH = 8192

type Read<T> = { readonly value: T } | ProofDenial
const isDenial = <T>(read: Read<T>): read is ProofDenial => 'ok' in read

/** An optional line of text. Null and empty mean absent, as clients write `value || "unknown"`. */
function readLine(proof: WalletProof, field: string): Read<string | undefined> {
  const value = proof[field]
  if (value === undefined || value === null || value === '') return { value: undefined }
  if (typeof value !== 'string') return invalidRequest(field, 'must be text')
  if (value.length > MAX_FIELD_LENGTH) {
    return invalidRequest(field, `must have at most ${MAX_FIELD_LENGTH} characters`)
  }
  if (!isPlainLine(value)) return invalidRequest(field, 'must be one line without control characters')
  if (looksLikeField(value)) return invalidRequest(field, 'must not look like another field')
  return { value }
}

/** `chainId` comes as a number or as text; as text it is rendered as sent. 0 means absent. */
function readChainId(proof: WalletProof): Read<string | undefined> {
  const { chainId } = proof
  if (typeof chainId !== 'number') return readLine(proof, 'chainId')
  if (!Number.isSafeInteger(chainId) || chainId < 0) {
    return invalidRequest('chainId', 'must be a positive integer')
  }
  return { value: chainId === 0 ? undefined : String(chainId) }
}

/** An address in lower case, or false. */
export function readAddress(address: unknown): string | false {
  return typeof address === 'string' && ADDRESS.test(address) && address.toLowerCase()
}

function readMessage(message: unknown): Read<string | undefined> {
  if (message === undefined || message === null) return { value: undefined }
  if (typeof message !== 'string') return invalidRequest('message', 'must be text')
  if (message.length > MAX_MESSAGE_LENGTH) {
    return invalidRequest('message', `must have at most ${MAX_MESSAGE_LENGTH} characters`)
  }
  return { value: message }
}

/**
 * Checks shapes alone, the cheapest part: no clock, no hash. `extras` are the fields that the host's own templates
 * use. Denial: `invalid_request` naming the first field at fault.
 */
export function readStatement(proof: WalletProof, extras: readonly string[]): Statement | ProofDenial {
  if (typeof proof !== 'object' || proof === null) return invalidRequest('body', 'must be an object')
  const { address, signature, nonce, issuedAt, expiresAt } = proof
  const wallet = readAddress(address)
  if (wallet === false) return invalidRequest('address', 'must be 0x and 40 hex digits')
  const bytes = typeof signature === 'string' ? parseHex(signature) : undefined
  if (!bytes) return invalidRequest('signature', 'must be 0x and whole bytes of hex, at most 16 KiB')
  if (typeof nonce !== 'string' || !NONCE.test(nonce)) {
    return invalidRequest('nonce', 'must be 8 to 128 visible ASCII characters')
  }
  const issued = typeof issuedAt === 'string' ? parseRfc3339(issuedAt) : undefined
  if (issued === undefined) return invalidRequest('issuedAt', 'must be an RFC 3339 date-time')
  const expires = typeof expiresAt === 'string' ? parseRfc3339(expiresAt) : undefined
  if (expires === undefined) return invalidRequest('expiresAt', 'must be an RFC 3339 date-time')

  const fields: Record<string, string | undefined> = {
    address: address as string,
    nonce,
    issuedAt: issuedAt as string,
    expiresAt: expiresAt as string,
  }
  const chainId = readChainId(proof)
  if (isDenial(chainId)) return chainId
  fields['chainId'] = chainId.value
  for (const field of ['connector', 'walletLabel', ...extras]) {
    const line = readLine(proof, field)
    if (isDenial(line)) return line
    fields[field] = line.value
  }
  const template = readLine(proof, 'template')
  if (isDenial(template)) return template
  const message = readMessage(proof.message)
  if (isDenial(message)) return message
  return {
    address: wallet,
    ...{ signature: bytes, nonce, issuedAt: issued, expiresAt: expires, fields },
    ...{ template: template.value, message: message.value },
  }
}

/** The time rules, in ms. */
export interface TimeRules {
  readonly windowMs: number
  readonly skewMs: number
}

/**
 * Checks the times: `issuedAt < expiresAt`, a window of at most `windowMs` (inclusive), `issuedAt <= now + skewMs`
 * (inclusive), `now < expiresAt` (exclusive: at `expiresAt` it is over, with no tolerance).
 * Denials: `invalid_request` for a window no statement may have, `invalid_signature` for the wrong moment.
 */
export function checkTimes(
  { issuedAt, expiresAt }: Statement,
  now: EpochMs,
  { windowMs, skewMs }: TimeRules,
): ProofDenial | undefined {
  if (expiresAt <= issuedAt) return invalidRequest('expiresAt', 'must be after issuedAt')
  if (expiresAt - issuedAt > windowMs) {
    return invalidRequest('expiresAt', `must be at most ${windowMs / 1000} s after issuedAt`)
  }
  if (issuedAt > now + skewMs) return invalidSignature('issued in the future')
  if (now >= expiresAt) return invalidSignature('expired')
  return undefined
}

/** EIP-55: an address in mixed case must have its checksum's case. All lower and all upper case carry none. */
export function checkChecksum({ fields }: Statement): ProofDenial | undefined {
  const digits = (fields['address'] as string).slice(2)
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return undefined
  if (getAddress(`0x${digits.toLowerCase()}`) === `0x${digits}`) return undefined
  return invalidRequest('address', 'has a wrong checksum (EIP-55)')
}
