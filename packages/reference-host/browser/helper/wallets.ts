/** The part of an EIP-1193 provider that the page uses. */
interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
  on?(event: string, listener: (value: unknown) => void): void
  removeListener?(event: string, listener: (value: unknown) => void): void
}

/** A wallet that announced itself (EIP-6963), or the one at `window.ethereum`. */
export interface Wallet {
  readonly id: string
  readonly name: string
  /** A `data:` URL of an image; undefined if the wallet gave none or another URL. */
  readonly icon: string | undefined
  /** The reverse domain name that the wallet claims, such as `io.metamask`. */
  readonly rdns: string | undefined
  readonly provider: Provider
}

interface Announcement {
  readonly info?: {
    readonly uuid?: unknown
    readonly name?: unknown
    readonly icon?: unknown
    readonly rdns?: unknown
  }
  readonly provider?: Provider
}

/** How long wallets have to announce themselves before `window.ethereum` is used. */
const ANNOUNCE_MS = 300
/** More than anybody has: further announcements come from a faulty extension. */
const MAX_WALLETS = 20

/**
 * Finds the wallets of this browser. Calls `changed` for each wallet that announces itself, and once after `ANNOUNCE_MS`, when
 * there may be none. Returns a function that stops the search.
 */
export function findWallets(changed: (wallets: readonly Wallet[], searching: boolean) => void): () => void {
  const found = new Map<string, Wallet>()
  let searching = true
  const report = (): void => changed([...found.values()], searching)
  const announced = (event: Event): void => {
    const wallet = readAnnouncement((event as CustomEvent<Announcement>).detail)
    if (!wallet || found.has(wallet.id) || found.size >= MAX_WALLETS) return
    // A wallet that announces itself late replaces `window.ethereum`, which is probably the same wallet.
    found.delete(UNNAMED)
    found.set(wallet.id, wallet)
    report()
  }
  window.addEventListener('eip6963:announceProvider', announced)
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  const timer = setTimeout(() => {
    searching = false
    const provider = (window as { ethereum?: Provider }).ethereum
    if (found.size === 0 && typeof provider?.request === 'function')
      found.set(UNNAMED, { id: UNNAMED, name: 'Browser wallet', icon: undefined, rdns: undefined, provider })
    report()
  }, ANNOUNCE_MS)
  return () => {
    clearTimeout(timer)
    window.removeEventListener('eip6963:announceProvider', announced)
  }
}

const UNNAMED = 'window.ethereum'

function readAnnouncement({ info, provider }: Announcement): Wallet | undefined {
  if (typeof info?.uuid !== 'string' || typeof provider?.request !== 'function') return undefined
  const text = (value: unknown, most: number): string | undefined =>
    typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, most) : undefined
  const icon = text(info.icon, 500_000)
  return {
    id: info.uuid,
    name: text(info.name, 40) ?? 'Wallet without a name',
    // Any other URL would make the browser send a request to another host.
    icon: icon && /^data:image\//i.test(icon) ? icon : undefined,
    rdns: text(info.rdns, 40),
    provider,
  }
}
