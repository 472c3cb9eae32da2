import { randomUUID } from 'node:crypto'
import type { BrowserContext, Page } from 'playwright-core'
import { hexToString, isHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { newWallet } from '../../../harness/host.ts'
import {
  putWallets,
  emitWalletEvent,
  type AnnouncedWallet,
} from '../../../harness/browser/in-page/wallets.ts'

/** What a wallet signs with: an account, or the owner of a contract wallet under the contract's address. */
type Account = Pick<PrivateKeyAccount, 'address' | 'signMessage'>

/** An error as wallets throw it (EIP-1193). */
interface WalletError {
  readonly code: number
  readonly message: string
}

/** The person said no. */
export const REJECTED: WalletError = { code: 4001, message: 'User rejected the request.' }

/** A wallet of a browser test, which signs for real. */
export interface TestWallet extends AnnouncedWallet {
  account: Account
  chainId: number
  /** Called before each response; what it returns is thrown in the page instead. */
  errorFor: (method: string) => WalletError | undefined | Promise<WalletError | undefined>
  /** Each text that it was asked to sign. */
  readonly texts: string[]
}

const icon = (colour: string): string =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${colour}"/><circle cx="16" cy="16" r="7" fill="white"/></svg>`)}`

/** Makes a wallet with a new account. */
export function testWallet(name = 'Test Wallet', changes: Partial<TestWallet> = {}): TestWallet {
  return {
    uuid: randomUUID(),
    name,
    rdns: `test.${name.toLowerCase().replaceAll(' ', '-')}`,
    icon: icon('#7a4df0'),
    where: 'announced',
    account: newWallet(),
    chainId: 1,
    errorFor: () => undefined,
    texts: [],
    ...changes,
  }
}

/** Puts wallets into every page of a context. */
export async function addWallets(context: BrowserContext, wallets: readonly TestWallet[]): Promise<void> {
  await context.exposeBinding('walletOfTest', async (_, uuid: string, method: string, params: unknown[]) => {
    const wallet = wallets.find(each => each.uuid === uuid) as TestWallet
    const error = await wallet.errorFor(method)
    return error ? { error } : { value: await response(wallet, method, params) }
  })
  const announced = wallets.map(({ uuid, name, rdns, icon, where }) => ({ uuid, name, rdns, icon, where }))
  await context.addInitScript(putWallets, announced)
}

async function response(wallet: TestWallet, method: string, [text]: readonly unknown[]): Promise<unknown> {
  const { account, chainId, texts } = wallet
  if (method === 'eth_chainId') return `0x${chainId.toString(16)}`
  if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [account.address]
  if (method !== 'personal_sign' || !isHex(text)) throw new Error(`the wallet of the test has no ${method}`)
  texts.push(hexToString(text))
  return account.signMessage({ message: { raw: text } })
}

/** Turns a wallet to another account, and lets it send the event to the page. */
export async function switchAccount(
  page: Page,
  wallet: TestWallet,
  account: Account = newWallet(),
): Promise<void> {
  wallet.account = account
  await page.evaluate(emitWalletEvent, [wallet.uuid, 'accountsChanged', [account.address]] as const)
}
