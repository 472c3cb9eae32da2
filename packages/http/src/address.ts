import ipaddr from 'ipaddr.js'

/** Who sent a request and how, as far as it can be known. */
export interface Client {
  /** Canonical text of the address; empty when it is not known. */
  readonly address: string
  /** Whether the client's own connection is TLS. */
  readonly secure: boolean
}

/** Whether an address belongs to a proxy of ours. */
export type TrustedProxies = (address: string) => boolean

/** Reads an address, an IPv4-mapped IPv6 one as IPv4. `ipaddr` also takes short and octal forms; those are refused. */
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const usual = ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)
  return usual ? ipaddr.process(text) : undefined
}

/** Compiles the CIDRs of trusted proxies. Throws a `TypeError` naming one that is not a CIDR or an address. */
export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  const ranges = cidrs.map(cidr => {
    if (typeof cidr === 'string' && ipaddr.isValidCIDR(cidr)) return ipaddr.parseCIDR(cidr)
    const single = typeof cidr === 'string' ? parse(cidr) : undefined
    if (!single) throw new TypeError(`trustProxy must name CIDRs or addresses, not ${JSON.stringify(cidr)}`)
    return [single, single.kind() === 'ipv4' ? 32 : 128] as [ipaddr.IPv4 | ipaddr.IPv6, number]
  })
  if (ranges.length === 0) return () => false
  return address => {
    const parsed = parse(address)
    if (!parsed) return false
    return ranges.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match([base, bits] as never))
  }
}

/** `1.2.3.4:567` and `[2001:db8::1]:567` are what some proxies append. */
const WITH_PORT = /^(?:\[([0-9a-fA-F:.]+)\](?::\d{1,5})?|(\d+\.\d+\.\d+\.\d+):\d{1,5})$/

function items(field: string | undefined): string[] {
  return field === undefined ? [] : field.split(',').map(item => item.trim())
}

/**
 * Who the client is. `X-Forwarded-For` is read from the right, past every trusted proxy: the first other address is
 * the client, whatever stands left of it. An entry that is no address ends the walk at the proxy that sent it.
 * `X-Forwarded-Proto` counts only from a trusted peer: its one value, or the one at the client's place from the right.
 */
export function clientOf(
  peer: Client,
  header: (name: string) => string | undefined,
  trusted: TrustedProxies,
): Client {
  let address = parse(peer.address)?.toString() ?? ''
  if (!trusted(address)) return { address, secure: peer.secure }
  const forwarded = items(header('x-forwarded-for'))
  let hops = 0
  while (hops < forwarded.length && trusted(address)) {
    const entry = forwarded[forwarded.length - 1 - hops] as string
    const [, inner, outer] = WITH_PORT.exec(entry) ?? []
    const next = parse(inner ?? outer ?? entry)
    if (!next) break
    address = next.toString()
    hops++
  }
  const schemes = items(header('x-forwarded-proto'))
  const scheme = schemes.length === 1 ? schemes[0] : schemes[schemes.length - Math.max(hops, 1)]
  return { address, secure: schemes.length === 0 ? peer.secure : scheme?.toLowerCase() === 'https' }
}

/**
 * The bucket of an address for limits by address: an IPv4 address itself, of an IPv6 address its /64, because one
 * subscriber holds at least that many. Anything else is `unknown`: one bucket for all of it.
 */
export function addressClass(address: string): string {
  const parsed = parse(address)
  if (!parsed) return 'unknown'
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const upper = (parsed as ipaddr.IPv6).parts.slice(0, 4).map(part => part.toString(16))
  return `${upper.join(':')}::/64`
}
