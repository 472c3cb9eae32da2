import { readHost } from '../shared/host.ts'
import type { Wallet } from './wallets.ts'

const RDNS = 'gatewright.test-wallet'
const NAME = 'gatewright.test-wallet'
/** A test wallet is on no chain: it signs texts only. Sign-ins without a chain name this one. */
const CHAIN = '0x1'

/** Whether a person may sign in without a wallet of their own. Only a sandbox offers it: whoever has the tab has the key. */
export const offersTestWallet = (): boolean => readHost().environment === 'sandbox'

/** Whether a wallet is the test wallet. */
export const isTestWallet = ({ rdns }: Pick<Wallet, 'rdns'>): boolean => rdns === RDNS && offersTestWallet()

/**
 * Opens the test wallet of this tab, and makes one at first. Its key is in `sessionStorage`, so it survives a reload and is gone
 * when the tab is closed.
 */
export async function openTestWallet(): Promise<Wallet> {
  const { addressOf, newPrivateKey, signMessage } = await import('./test-wallet-key.ts')
  const key = readKey() ?? newPrivateKey()
  storeKey(key)
  const address = addressOf(key)
  return {
    id: RDNS,
    name: 'Test wallet',
    icon: undefined,
    rdns: RDNS,
    provider: {
      async request({ method, params = [] }) {
        if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [address]
        if (method === 'eth_chainId') return CHAIN
        if (method === 'personal_sign') return signMessage(key, String(params[0]))
        throw new Error(`the test wallet has no ${method}`)
      },
    },
  }
}

function readKey(): string | undefined {
  try {
    const key = sessionStorage.getItem(NAME) ?? ''
    return /^[0-9a-f]{64}$/.test(key) ? key : undefined
  } catch {
    return undefined
  }
}

/** A browser that refuses storage makes another wallet after a reload. */
function storeKey(key: string): void {
  try {
    sessionStorage.setItem(NAME, key)
  } catch {
    return undefined
  }
}
