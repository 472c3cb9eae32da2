import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { addWallets, type TestWallet } from './browser-wallets.ts'
import { openPage, type OpenPage, type OpenPageOptions } from '../../../harness/browser/browser.ts'
import { request, type HttpResponse } from '../../../harness/host.ts'

/** Opens `/helper`, or another address of it, in a browser that has wallets. */
export function openHelper(
  browser: Browser,
  address: string,
  wallets: readonly TestWallet[],
  { prepare, ...options }: OpenPageOptions = {},
): Promise<OpenPage> {
  return openPage(browser, address, {
    ...options,
    async prepare(context) {
      await addWallets(context, wallets)
      await prepare?.(context)
    },
  })
}

/** Presses the button of a name. */
export function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click()
}

/** Presses the button of a wallet in the list. */
export function pick(page: Page, name: string): Promise<void> {
  return page.getByRole('list', { name: 'Wallets' }).getByRole('button', { name }).click()
}

/** Waits until the heading of the page is this one. */
export function heading(page: Page, name: string): Promise<void> {
  return page.getByRole('heading', { level: 1, name }).waitFor()
}

/** Waits until the main part of the page shows a text, in capital and small letters as they are here: the status `Approved` is not the `approved` of a command. */
export function shows(page: Page, text: string): Promise<void> {
  const literally = new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return page.getByRole('main').getByText(literally).waitFor()
}

/** Goes from the list of wallets into the account console. */
export async function signInBy(page: Page, wallet: TestWallet): Promise<void> {
  await pick(page, wallet.name)
  await press(page, 'Sign in')
  await heading(page, 'Overview')
}

/** Types a code into the boxes, beginning in the first one. */
export async function typeCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('Character 1 of 8').click()
  await page.keyboard.type(code)
}

/** The request of a command line. */
export interface StartedCli {
  readonly requestToken: string
  readonly code: string
  readonly url: string
}

/** Starts a request as a command line on this machine does, or on another network. `key`: the rights that it requests. */
export async function startCli(host: string, from?: string, key: object = {}): Promise<StartedCli> {
  const headers: Record<string, string> = from === undefined ? {} : { 'x-forwarded-for': from }
  const { body } = await request(host, '/auth/cli/start', { body: { clientName: 'gw', ...key }, headers })
  return body.data as unknown as StartedCli
}

/** Polls until the request is no longer pending, as a command line does. */
export async function pollCli(host: string, requestToken: string): Promise<HttpResponse> {
  for (;;) {
    const polled = await request(host, '/auth/cli/poll', { body: { requestToken } })
    if (polled.status !== 202) return polled
    await sleep(100)
  }
}
