import { addressMatcher, canonicalAddress, isAddressBlock } from '@gatewright/kernel/address'

/** Who sent a request and how, as far as it can be known. */
export interface Client {
  /** Canonical text of the address; empty when it is not known. */
  readonly address: string
  /** Whether the client's own connection is TLS. */
  readonly secure: boolean
}

/** Whether an address belongs to a proxy of ours. */
export type TrustedProxies = (address: string) => boolean

/** Compiles the CIDRs of trusted proxies. Throws a `TypeError` naming one that is not a CIDR or an address. */
export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  const wrong = cidrs.find(cidr => typeof cidr !== 'string' || !isAddressBlock(cidr))
  if (wrong !== undefined)
    throw new TypeError(`trustProxy must name CIDRs or addresses, not ${JSON.stringify(wrong)}`)
  return addressMatcher(cidrs)
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
  let address = canonicalAddress(peer.address) ?? ''
  if (!trusted(address)) return { address, secure: peer.secure }
  const forwarded = items(header('x-forwarded-for'))
  let hops = 0
  while (hops < forwarded.length && trusted(address)) {
    const entry = forwarded[forwarded.length - 1 - hops] as string
    const [, inner, outer] = WITH_PORT.exec(entry) ?? []
    const next = canonicalAddress(inner ?? outer ?? entry)
    if (next === undefined) break
    address = next
    hops++
  }
  const schemes = items(header('x-forwarded-proto'))
  const scheme = schemes.length === 1 ? schemes[0] : schemes[schemes.length - Math.max(hops, 1)]
  return { address, secure: schemes.length === 0 ? peer.secure : scheme?.toLowerCase() === 'https' }
}
