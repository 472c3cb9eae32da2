import { addressMatcher, canonicalAddress, isAddressBlock } from '@gatewright/kernel/internal/address'

interface Client {
  /**
   * Canonical text of the address. `unknown`: the server cannot name it, as after a reset. Empty: the connection has no
   * address, as on a Unix socket.
   */
  readonly address: string
  /** Whether the connection is TLS. */
  readonly secure: boolean
  /** The well-formed `X-Request-Id` of a trusted proxy. */
  readonly proxyRequestId?: string | undefined
}

/**
 * The address of a client that the server cannot name, as after a reset. All such requests share one bucket of limits, and no
 * CIDR block contains it.
 */
export const UNKNOWN_ADDRESS = 'unknown'

/** Whether an address belongs to a trusted proxy. */
export type TrustedProxies = (address: string) => boolean

/** The entry of `trustProxy` for a proxy that connects by a Unix socket, whose connection has no address. */
const UNIX = 'unix'

/**
 * Compiles the CIDRs of trusted proxies; `unix` is a proxy on a Unix socket. Throws a `TypeError` that names an entry that is neither a CIDR nor an
 * address nor `unix`.
 */
export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  if (!Array.isArray(cidrs))
    throw new TypeError(
      `trustProxy must be a list of the addresses of your proxies, such as ['10.0.0.0/8'] or ['unix'], got ${JSON.stringify(cidrs)}: a client behind a proxy that is not named could write any address`,
    )
  const blocks = cidrs.filter(cidr => cidr !== UNIX)
  const wrong = blocks.find(block => typeof block !== 'string' || !isAddressBlock(block))
  if (wrong !== undefined)
    throw new TypeError(`trustProxy must contain CIDRs, addresses or "unix", got ${JSON.stringify(wrong)}`)
  const isInBlock = addressMatcher(blocks)
  const trustsUnix = blocks.length < cidrs.length
  return address => (address === '' ? trustsUnix : isInBlock(address))
}

/** Some proxies append `1.2.3.4:567` or `[2001:db8::1]:567`. */
const WITH_PORT = /^(?:\[([0-9a-fA-F:.]+)\](?::\d{1,5})?|(\d+\.\d+\.\d+\.\d+):\d{1,5})$/

function listItems(field: string | undefined): string[] {
  return field === undefined ? [] : field.split(',').map(item => item.trim())
}

/**
 * Determines the client. `X-Forwarded-For` is read from the right, past every trusted proxy; the first other address is the
 * client, and the entries to its left are ignored. If an entry is not an address, the client is the proxy that appended it.
 * `X-Forwarded-Proto` is read only from a trusted peer. If the field has several values, the one counts that has the same
 * position, from the right, as the client has in `X-Forwarded-For`. `X-Request-Id` too is read only from a trusted peer; two of them, which
 * are joined by a comma, are not well-formed.
 */
export function clientOf(
  peer: Pick<Client, 'address' | 'secure'>,
  header: (name: string) => string | undefined,
  trusted: TrustedProxies,
): Client {
  if (peer.address === UNKNOWN_ADDRESS) return peer
  let address = canonicalAddress(peer.address) ?? (peer.address === '' ? '' : UNKNOWN_ADDRESS)
  if (!trusted(address)) return { address, secure: peer.secure }
  const forwarded = listItems(header('x-forwarded-for'))
  let hops = 0
  while (hops < forwarded.length && trusted(address)) {
    const entry = forwarded[forwarded.length - 1 - hops] as string
    const [, ipv6, ipv4] = WITH_PORT.exec(entry) ?? []
    const next = canonicalAddress(ipv6 ?? ipv4 ?? entry)
    if (next === undefined) break
    address = next
    hops++
  }
  const schemes = listItems(header('x-forwarded-proto'))
  const scheme = schemes.length === 1 ? schemes[0] : schemes[schemes.length - Math.max(hops, 1)]
  const secure = schemes.length === 0 ? peer.secure : scheme?.toLowerCase() === 'https'
  return { address, secure, proxyRequestId: wellFormedId(header('x-request-id')) }
}

/** An id that is safe in a log line, a header field and a URL. */
const REQUEST_ID = /^[A-Za-z0-9._:=+@-]{8,100}$/

function wellFormedId(id: string | undefined): string | undefined {
  return id !== undefined && REQUEST_ID.test(id) ? id : undefined
}
