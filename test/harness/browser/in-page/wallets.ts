// This function runs in the page: the harness sends its text there, so it may not use anything from outside itself.

/** How a wallet of a test announces itself. */
export interface AnnouncedWallet {
  readonly uuid: string
  readonly name: string
  readonly rdns: string
  readonly icon: string
  /** Whether it announces itself (EIP-6963), is at `window.ethereum`, or both. */
  readonly where: 'announced' | 'window' | 'both'
}

type Listener = (value: unknown) => void

/** Puts wallets into the page. The test responds to what they are asked. */
export function putWallets(wallets: readonly AnnouncedWallet[]): void {
  const bridge = window as unknown as {
    walletOfTest(uuid: string, method: string, params: unknown): Promise<{ value?: unknown; error?: object }>
    sendToWallet: Record<string, (event: string, value: unknown) => void>
    ethereum?: unknown
  }
  bridge.sendToWallet = {}
  for (const { where, ...info } of wallets) {
    const listeners = new Map<string, Set<Listener>>()
    const of = (event: string): Set<Listener> => {
      const known = listeners.get(event) ?? new Set<Listener>()
      listeners.set(event, known)
      return known
    }
    const provider = {
      async request({ method, params = [] }: { method: string; params?: unknown }): Promise<unknown> {
        const { value, error } = await bridge.walletOfTest(info.uuid, method, params)
        // oxlint-disable-next-line typescript/only-throw-error -- wallets throw plain objects too
        if (error) throw error
        return value
      },
      on: (event: string, listener: Listener) => void of(event).add(listener),
      removeListener: (event: string, listener: Listener) => void of(event).delete(listener),
    }
    bridge.sendToWallet[info.uuid] = (event, value) => {
      for (const listener of of(event)) listener(value)
    }
    if (where !== 'announced') bridge.ethereum = provider
    if (where === 'window') continue
    const announce = (): void => {
      const detail = Object.freeze({ info: Object.freeze(info), provider })
      window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
    }
    window.addEventListener('eip6963:requestProvider', announce)
    announce()
  }
}

/** Lets a wallet send an event to the page. */
export function emitWalletEvent([uuid, event, value]: readonly [string, string, unknown]): void {
  const { sendToWallet } = window as unknown as {
    sendToWallet: Record<string, (event: string, value: unknown) => void>
  }
  sendToWallet[uuid]?.(event, value)
}
