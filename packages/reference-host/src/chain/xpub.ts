import { ECDH } from 'node:crypto'
import { keyDigest } from '@gatewright/kernel'
import { keccakWithJsSha3 } from '@gatewright/signature-verifier'
import { HDKey } from '@scure/bip32'

/** The addresses of an extended public key, by index. No private key is needed, and none is known. */
export interface AddressBranch {
  /** Names the key and its chain code, whichever depth it was given at. No secret, and tells nothing of the key. */
  readonly id: string
  /** The address at an index, 0 to 2^31 - 1, in lower case. */
  addressAt(index: number): string
}

/** First index that BIP-32 reserves for hardened children, which a public key cannot derive. */
export const INDEX_LIMIT = 2 ** 31
const ACCOUNT_DEPTH = 3
const BRANCH_DEPTH = 4
/** 78 bytes in base58 with a checksum, behind the letters of a public key on a main network. */
const XPUB = /^xpub[1-9A-HJ-NP-Za-km-z]{107}$/
/** Extended private keys of every network and script type start like this. */
const PRIVATE = /^[a-z]prv/i

/** Reads an extended public key, or says what is wrong with it, to be read after the field's name. Never repeats it. */
export function readXpub(value: unknown): { readonly branch: AddressBranch } | { readonly problem: string } {
  if (typeof value === 'string' && PRIVATE.test(value)) {
    const advice = 'give the xpub, and move what the private key holds: it was written to a configuration'
    return { problem: ` holds an extended private key, which must never reach a host: ${advice}` }
  }
  if (typeof value !== 'string' || !XPUB.test(value)) {
    return { problem: ' must be an extended public key (BIP-32): "xpub" and 107 base58 characters' }
  }
  let key: HDKey
  try {
    key = HDKey.fromExtendedKey(value)
  } catch {
    return { problem: ' is no extended public key: its checksum or its curve point is wrong' }
  }
  if (key.depth === BRANCH_DEPTH) return { branch: branchOf(key) }
  if (key.depth === ACCOUNT_DEPTH) return { branch: branchOf(key.deriveChild(0)) }
  const expected = "3 (m/44'/60'/account', whose addresses are 0/index) or 4 (m/44'/60'/account'/0)"
  return { problem: ` must be at depth ${expected}, got depth ${key.depth}` }
}

/** The branch of a key that `readXpub` accepted before. Throws a `TypeError` for any other. */
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
      // An address is the end of the hash of the point's two coordinates; the byte before them says that it is uncompressed.
      return `0x${hex(keccakWithJsSha3(point.subarray(1)).subarray(12))}`
    },
  }
}

function hex(bytes: Uint8Array | null): string {
  if (!bytes) throw new TypeError('an extended public key holds a key and a chain code')
  return Buffer.from(bytes).toString('hex')
}
