import { createHash } from 'node:crypto'
import { base32nopad, base58, base58xrp, bech32, bech32m, createBase58check, utils } from '@scure/base'
import { toChecksumAddress } from '@gatewright/signature-verifier/internal'

/** An address that has passed the rule of its network. */
export interface NetworkAddress {
  /** The address, in the spelling of `canonicalAddress`. */
  readonly text: string
  /** What the address names, without version and checksum. Empty on a network whose rule the host does not know. */
  readonly bytes: Uint8Array
}

/** Reads an address; undefined if it breaks the rule of its network. */
type AddressReader = (text: string) => NetworkAddress | undefined

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
const base58check = createBase58check(sha256)
const xrpBase58check = utils.chain(
  utils.checksum(4, bytes => sha256(sha256(bytes))),
  base58xrp,
)
const stellarBase32 = utils.chain(utils.checksum(2, crc16), base32nopad)

const readBitcoin = either(segwit('bc'), versioned(base58check, [0x00, 0x05]))
const readLitecoin = either(segwit('ltc'), versioned(base58check, [0x05, 0x30, 0x32]))
const readDogecoin = versioned(base58check, [0x16, 0x1e])
const readTron = versioned(base58check, [0x41])
const readXrp = versioned(xrpBase58check, [0x00])
const readStellar = versioned(stellarBase32, [0x30], 32)
const readSolana: AddressReader = text => {
  const bytes = decoded(() => base58.decode(text))
  return bytes?.length === 32 ? addressOf(text, bytes) : undefined
}

/** The rules of networks without an EIP-155 chain id, by the ids under which catalogues list them. */
const READERS: ReadonlyMap<string, AddressReader> = new Map([
  ['bitcoin', readBitcoin],
  ['btc', readBitcoin],
  ['litecoin', readLitecoin],
  ['ltc', readLitecoin],
  ['dogecoin', readDogecoin],
  ['doge', readDogecoin],
  ['tron', readTron],
  ['trx', readTron],
  ['ripple', readXrp],
  ['xrp', readXrp],
  ['xrpl', readXrp],
  ['stellar', readStellar],
  ['xlm', readStellar],
  ['solana', readSolana],
  ['sol', readSolana],
])

/**
 * Reads an address by the rule of its network: EIP-55 where the network has a chain id, bech32 and bech32m (BIP-173, BIP-350) and
 * base58check for Bitcoin and its like, base58check in XRP's alphabet, base32 with CRC-16 for Stellar (SEP-23). An address of Solana
 * has no checksum and must be 32 bytes. On other networks every text passes. Undefined: not an address of the network.
 */
export function readAddress(
  { id, chainId }: { readonly id: string; readonly chainId: number | null },
  text: string,
): NetworkAddress | undefined {
  if (chainId !== null) return readEthereum(text)
  const reader = READERS.get(id)
  return reader ? reader(text) : addressOf(text, new Uint8Array())
}

/** Whether a text is 0x and 40 hex digits. In mixed case its checksum (EIP-55) must be valid; in one case it has none. */
export function isEthereumAddress(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return false
  const digits = text.slice(2)
  const hasOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return hasOneCase || toChecksumAddress(text) === text
}

/**
 * Returns the one spelling under which an address is stored and compared: Ethereum addresses and bech32 in lower case. Other texts are
 * unchanged.
 */
export function canonicalAddress(text: string): string {
  return /^0x[0-9a-fA-F]{40}$|^(?:BC|LTC)1[0-9A-Z]+$/.test(text) ? text.toLowerCase() : text
}

function readEthereum(text: string): NetworkAddress | undefined {
  return isEthereumAddress(text) ? addressOf(text, Buffer.from(text.slice(2), 'hex')) : undefined
}

function addressOf(text: string, bytes: Uint8Array): NetworkAddress {
  return { text: canonicalAddress(text), bytes }
}

/** Makes the reader of addresses of segregated witness: bech32 for version 0, bech32m for versions 1 to 16 (BIP-350). */
function segwit(prefix: string): AddressReader {
  return text => {
    const [coder, found] =
      [bech32, bech32m].map(coder => [coder, coder.decodeUnsafe(text)] as const).find(([, found]) => found) ??
      []
    if (!coder || found?.prefix !== prefix) return undefined
    const [version = 17, ...words] = found.words
    const bytes = coder.fromWordsUnsafe(words)
    if (!bytes || bytes.length < 2 || bytes.length > 40 || version > 16) return undefined
    if ((version === 0) !== (coder === bech32)) return undefined
    if (version === 0 && bytes.length !== 20 && bytes.length !== 32) return undefined
    return addressOf(text, bytes)
  }
}

/** Makes the reader of addresses that are a version, `length` bytes and a checksum. */
function versioned(
  coder: { decode(text: string): Uint8Array },
  versions: readonly number[],
  length = 20,
): AddressReader {
  return text => {
    const [version = -1, ...bytes] = decoded(() => coder.decode(text)) ?? []
    if (!versions.includes(version) || bytes.length !== length) return undefined
    return addressOf(text, Uint8Array.from(bytes))
  }
}

function either(first: AddressReader, second: AddressReader): AddressReader {
  return text => first(text) ?? second(text)
}

/** Returns undefined if a decoder of `@scure/base` throws, as it does for every malformed text. */
function decoded(decode: () => Uint8Array): Uint8Array | undefined {
  try {
    return decode()
  } catch {
    return undefined
  }
}

/** CRC-16/XMODEM, the low byte first, as Stellar's addresses end with it (SEP-23). */
function crc16(bytes: Uint8Array): Uint8Array {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return Uint8Array.of(crc & 0xff, crc >> 8)
}
