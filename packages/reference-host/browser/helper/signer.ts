import { isTestWallet, openTestWallet } from './test-wallet.ts'
import { findWallets, type Wallet } from './wallets.ts'

/** An account of a wallet that can sign. */
export interface Signer {
  readonly wallet: Wallet
  readonly address: string
  readonly chainId: number | null
}

/** Why a wallet did not connect or sign. `busy`: it shows another prompt already. */
export type WalletFailure =
  | { readonly kind: 'rejected' | 'busy' | 'changed' }
  | { readonly kind: 'failed'; readonly message: string }

/** The result of a request to a wallet. */
export type WalletResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: WalletFailure }

/** Requests the accounts of a wallet and uses the first one. */
export async function connect(wallet: Wallet): Promise<WalletResult<Signer>> {
  try {
    const [address] = (await wallet.provider.request({ method: 'eth_requestAccounts' })) as unknown[]
    if (!isAddress(address)) return failed('it has no account')
    const chainId = await wallet.provider.request({ method: 'eth_chainId' }).catch(() => null)
    return { ok: true, value: { wallet, address, chainId: readChainId(chainId) } }
  } catch (error) {
    return { ok: false, failure: failureOf(error) }
  }
}

/** Finds the wallet of a reverse domain name again, if it still shows the account. It is asked nothing but for its accounts. */
export async function findSigner(
  { rdns }: Pick<Wallet, 'rdns'>,
  address: string,
): Promise<Signer | undefined> {
  const wallet =
    rdns === undefined ? undefined : await (isTestWallet({ rdns }) ? openTestWallet() : findWallet(rdns))
  const connected = wallet ? await connect(wallet) : undefined
  return connected?.ok && isSame(connected.value.address, address) ? connected.value : undefined
}

function findWallet(rdns: string): Promise<Wallet | undefined> {
  return new Promise(resolve => {
    const stop = findWallets((wallets, searching) => {
      const found = wallets.find(wallet => wallet.rdns === rdns)
      if (!found && searching) return
      // The first call may come before `findWallets` has returned.
      queueMicrotask(() => stop())
      resolve(found)
    })
  })
}

/** Whether a signer is the account of an address. */
export const isAccount = ({ address }: Signer, account: string): boolean => isSame(address, account)

/** Asks a wallet to sign a text with the account of a signer. Fails if the wallet has switched to another account. */
export async function sign({ wallet, address }: Signer, message: string): Promise<WalletResult<string>> {
  try {
    if (!(await isCurrent(wallet, address))) return { ok: false, failure: { kind: 'changed' } }
    const params = [hexOf(message), address]
    const signature = await wallet.provider.request({ method: 'personal_sign', params })
    if (typeof signature !== 'string' || !/^0x[0-9a-f]*$/i.test(signature))
      return failed('it gave no signature')
    return { ok: true, value: signature }
  } catch (error) {
    return { ok: false, failure: failureOf(error) }
  }
}

/** Reads the current chain of the wallet, which a person may have switched. */
export async function withCurrentChain(signer: Signer): Promise<Signer> {
  const chainId = await signer.wallet.provider.request({ method: 'eth_chainId' }).catch(() => null)
  return { ...signer, chainId: readChainId(chainId) ?? signer.chainId }
}

/** Calls `changed` when the wallet switches to another account. Returns a function that stops watching. */
export function watchAccount({ wallet: { provider }, address }: Signer, changed: () => void): () => void {
  const listener = (accounts: unknown): void => {
    const [first] = Array.isArray(accounts) ? (accounts as unknown[]) : []
    if (!isSame(first, address)) changed()
  }
  provider.on?.('accountsChanged', listener)
  return () => provider.removeListener?.('accountsChanged', listener)
}

async function isCurrent({ provider }: Wallet, address: string): Promise<boolean> {
  const accounts = await provider.request({ method: 'eth_accounts' })
  return Array.isArray(accounts) && isSame(accounts[0], address)
}

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)
const isSame = (value: unknown, address: string): boolean =>
  typeof value === 'string' && value.toLowerCase() === address.toLowerCase()

function readChainId(value: unknown): number | null {
  const id = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN
  return Number.isSafeInteger(id) && id > 0 ? id : null
}

function hexOf(text: string): string {
  const bytes = [...new TextEncoder().encode(text)]
  return `0x${bytes.map(byte => byte.toString(16).padStart(2, '0')).join('')}`
}

const failed = (message: string): WalletResult<never> => ({ ok: false, failure: { kind: 'failed', message } })

/** Reads the error of a provider (EIP-1193, EIP-1474). */
function failureOf(error: unknown): WalletFailure {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (code === 4001 || code === 'ACTION_REJECTED') return { kind: 'rejected' }
  if (code === -32_002) return { kind: 'busy' }
  // Not authorized for the account: the person has disconnected it.
  if (code === 4100) return { kind: 'changed' }
  const text = typeof message === 'string' && message !== '' ? message.slice(0, 200) : 'it gave no reason'
  return { kind: 'failed', message: text }
}
