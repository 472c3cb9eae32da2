import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Parses one complete address; an IPv4-mapped IPv6 address becomes IPv4. Rejects short and octal forms such as `127.1`,
 * which `ipaddr.js` would accept.
 */
function parse(text: string): Address | undefined {
  const isComplete = ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)
  return isComplete ? ipaddr.process(text) : undefined
}

/** How many addresses are remembered. */
const MAX_KNOWN = 1000
/** Length of the longest IPv6 address, with an IPv4 address at its end and a zone. */
const MAX_LENGTH = 64

/**
 * Remembers the result of a function of an address by its text, as a server reads the same few addresses with every request. Parsing
 * one costs 3 % of a guarded read of the host (npm run bench -- host). Forgets all when there are too many.
 */
function remembered<T>(of: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return text => {
    const found = known.get(text)
    if (found !== undefined) return found
    const value = of(text)
    if (known.size >= MAX_KNOWN) known.clear()
    // A text that is no address may be long.
    if (value !== undefined && text.length <= MAX_LENGTH) known.set(text, value)
    return value
  }
}

/** Returns the canonical text of an IP address, or undefined for any other text. An IPv4-mapped IPv6 address becomes IPv4. */
export const canonicalAddress: (text: string) => string | undefined = remembered(text =>
  parse(text)?.toString(),
)

/** Whether a text is an IP address or a CIDR block. */
export function isAddressBlock(text: string): boolean {
  return ipaddr.isValidCIDR(text) || parse(text) !== undefined
}

/**
 * Parses address blocks once and returns a function that tells whether an address is in one of them. A missing or malformed
 * address is in no block. Throws a `TypeError` for a block that `isAddressBlock` rejects.
 */
export function addressMatcher(blocks: readonly string[]): (address: string | undefined) => boolean {
  const ranges = blocks.map(parseBlock)
  if (ranges.length === 0) return () => false
  return text => {
    const address = text === undefined ? undefined : parse(text)
    if (!address) return false
    return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))
  }
}

function parseBlock(text: string): readonly [address: Address, bits: number] {
  if (!isAddressBlock(text)) throw new TypeError(`${text} is not an IP address or a CIDR block`)
  const [address, bits] = text.includes('/') ? ipaddr.parseCIDR(text) : [ipaddr.parse(text), 128]
  const mapped = address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96
  if (mapped) return [(address as ipaddr.IPv6).toIPv4Address(), bits - 96]
  return [address, Math.min(bits, address.kind() === 'ipv4' ? 32 : 128)]
}

/**
 * Returns the rate-limit bucket of a client address: the address itself for IPv4, its /64 for IPv6, because a subscriber
 * usually has at least a /64. All other texts share the bucket `unknown`.
 */
export const addressBucket: (text: string) => string = remembered(text => {
  const address = parse(text)
  if (!address) return 'unknown'
  if (address.kind() === 'ipv4') return address.toString()
  const upper = (address as ipaddr.IPv6).parts.slice(0, 4).map(part => part.toString(16))
  return `${upper.join(':')}::/64`
})

/**
 * Whether an address can be a host on the public Internet. False for private, loopback, link-local, shared, reserved and multicast
 * addresses, and for a text that is no address. Also false for every IPv6 address that stands for an IPv4 address, such as `::7f00:1` and those
 * of 6to4, NAT64, Teredo and ISATAP, except an IPv4-mapped one, which is judged as its IPv4 address.
 */
export function isPublicAddress(text: string): boolean {
  // ipaddr.js takes `::8.8.8.8` for an IPv4-mapped address; others take it for an IPv4-compatible one.
  if (IPV4_COMPATIBLE.test(text)) return false
  const address = parse(text)
  if (address?.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || isGlobalUnicast((address as ipaddr.IPv6).parts)
}

const IPV4_COMPATIBLE = /^[0:]*:\d{1,3}\./

/** Whether an IPv6 address is in 2000::/3, which has all global unicast addresses (RFC 4291 section 2.4), and not of ISATAP (RFC 5214 section 6.1). */
function isGlobalUnicast([first = 0, , , , fifth = 0, sixth]: readonly number[]): boolean {
  const isIsatap = (fifth === 0 || fifth === 0x200) && sixth === 0x5efe
  return first >> 13 === 1 && !isIsatap
}
