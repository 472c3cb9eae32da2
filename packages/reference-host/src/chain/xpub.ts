import { ECDH } from 'node:crypto'
import { keyDigest } from '@gatewright/kernel'
import { keccakWithJsSha3 } from '@gatewright/signature-verifier/internal'
import { HDKey } from '@scure/bip32'

/** Derives the addresses of an extended public key by index, without a private key. */
export interface AddressBranch {
  /**
   * Identifies the key and its chain code; the same for an account key and its branch key. Not secret, and reveals nothing
   * about the key.
   */
  readonly id: string
  /** The address at an index, 0 to 2^31 - 1, in lower case. */
  addressAt(index: number): string
}

/** First index that BIP-32 reserves for hardened children, which cannot be derived from a public key. */
export const INDEX_LIMIT = 2 ** 31
const ACCOUNT_DEPTH = 3
const BRANCH_DEPTH = 4
/** The prefix of a public key on a main network, then 78 bytes and a checksum in base58. */
const XPUB = /^xpub[1-9A-HJ-NP-Za-km-z]{107}$/
/** Extended private keys of every network and script type start like this. */
const PRIVATE = /^[a-z]prv/i

/**
 * Reads an extended public key. A problem is worded to follow the field's name, and never repeats the value.
 */
export function readXpub(value: unknown): { readonly branch: AddressBranch } | { readonly problem: string } {
  if (typeof value === 'string' && PRIVATE.test(value)) {
    const advice =
      'give the xpub instead, and move the funds of this key, since it was written to a configuration'
    return { problem: ` holds an extended private key, which must never reach a host: ${advice}` }
  }
  if (typeof value !== 'string' || !XPUB.test(value)) {
    return { problem: ' must be an extended public key (BIP-32): "xpub" and 107 base58 characters' }
  }
  let key: HDKey
  try {
    key = HDKey.fromExtendedKey(value)
  } catch {
    return { problem: ' is not an extended public key: its checksum or its curve point is wrong' }
  }
  if (key.depth === BRANCH_DEPTH) return { branch: branchOf(key) }
  if (key.depth === ACCOUNT_DEPTH) return { branch: branchOf(key.deriveChild(0)) }
  const expected = "3 (m/44'/60'/account', whose addresses are 0/index) or 4 (m/44'/60'/account'/0)"
  return { problem: ` must be at depth ${expected}, got depth ${key.depth}` }
}

/** Reads an extended public key that the configuration has accepted. Throws a `TypeError` for any other. */
export function branchOfXpub(xpub: string): AddressBranch {
  const read = readXpub(xpub)
  if ('problem' in read) throw new TypeError(`the xpub${read.problem}`)
  return read.branch
}

function branchOf(key: HDKey): AddressBranch {
  const { publicKey, chainCode } = key
  return {
    id: keyDigest(`${hex(publicKey)} ${hex(chainCode)}`),
    addressAt(index) {
      const compressed = hex(key.deriveChild(index).publicKey)
      const point = ECDH.convertKey(compressed, 'secp256k1', 'hex', undefined, 'uncompressed') as Buffer
      // An address is the last 20 bytes of the hash of both coordinates. The byte before them marks the
      // uncompressed form.
      return `0x${hex(keccakWithJsSha3(point.subarray(1)).subarray(12))}`
    },
  }
}

function hex(bytes: Uint8Array | null): string {
  if (!bytes) throw new TypeError('an extended public key holds a key and a chain code')
  return Buffer.from(bytes).toString('hex')
}
