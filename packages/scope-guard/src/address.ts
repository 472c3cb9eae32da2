import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Block = readonly [address: Address, bits: number]

/** Whether a text is one whole address. `ipaddr.isValid` also takes short and octal forms such as `127.1`. */
export function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)
}

/** Reads an address; an IPv4 address in IPv6 clothes (`::ffff:10.0.0.1`) is the IPv4 address it means. */
function read(text: string): Address | undefined {
  return isAddress(text) ? ipaddr.process(text) : undefined
}

function readBlock(text: string): Block {
  const [address, bits] = text.includes('/')
    ? ipaddr.parseCIDR(text)
    : ([ipaddr.parse(text), Infinity] as const)
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96) {
    return [(address as ipaddr.IPv6).toIPv4Address(), Math.min(bits - 96, 32)]
  }
  return [address, Math.min(bits, address.kind() === 'ipv4' ? 32 : 128)]
}

/** Whether an address is in one of the blocks, read once. An unknown or unreadable address is in none. */
export function addressMatcher(blocks: readonly string[]): (address: string | undefined) => boolean {
  const ranges = blocks.map(readBlock)
  return text => {
    const address = text === undefined ? undefined : read(text)
    if (!address) return false
    return ranges.some(([block, bits]) => block.kind() === address.kind() && address.match(block, bits))
  }
}

/**
 * The bucket of a client address: an IPv4 address itself, an IPv6 address by its /64 (one household or server
 * has a whole one). Unreadable text is one bucket for all.
 */
export function addressBucket(text: string): string {
  const address = read(text)
  if (!address) return 'unreadable'
  if (address.kind() === 'ipv4') return address.toString()
  return `${(address as ipaddr.IPv6).parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(':')}::/64`
}
