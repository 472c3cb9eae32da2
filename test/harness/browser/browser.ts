import type { Clock } from '@gatewright/kernel'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core'
import { chromiumBinary } from './chromium.ts'
import { startTestHost, type TestHost } from '../host.ts'
import { keptByPage, sendReports } from './in-page/watch.ts'
import { freePort } from '../services.ts'

/** What a page did that no page of the host may do. */
interface PageFaults {
  /** Reports of the content security policy, Trusted Types included. */
  readonly reports: string[]
  /** Addresses of requests to anything but the host. */
  readonly foreign: string[]
  /** Errors on the console, and errors that nothing caught. */
  readonly errors: string[]
}

/** A page in a context of its own. */
export interface OpenPage {
  readonly page: Page
  readonly context: BrowserContext
  readonly faults: PageFaults
  /** Every address that the page had. */
  readonly addresses: readonly string[]
  /** What the page keeps in the browser: storages, databases and cookies. Empty where it keeps nothing. */
  kept(): Promise<readonly string[]>
}

/** Options of `openPage`: those of a context, and what runs before the page's own scripts. */
export interface OpenPageOptions extends BrowserContextOptions {
  readonly prepare?: (context: BrowserContext) => Promise<unknown>
}

/** Flags without which Chromium itself asks hosts of its maker. */
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-default-apps',
  '--disable-extensions',
]

/** Starts Chromium. Root cannot use its sandbox. */
export async function startBrowser(): Promise<Browser> {
  const { path, env } = chromiumBinary()
  const args = process.getuid?.() === 0 ? [...QUIET, '--no-sandbox'] : QUIET
  return chromium.launch({
    executablePath: path,
    args,
    env: { ...process.env, ...env },
  })
}

/** Starts a host whose own origin is the address that it listens on, as wallets and pages need it. */
export async function startPageHost(env: Record<string, string> = {}, clock?: Clock): Promise<TestHost> {
  return startTestHost({ PORT: String(await freePort()), ...env }, clock)
}

/** Opens a page of a host in a context of its own, and watches over it. */
export async function openPage(
  browser: Browser,
  address: string,
  { prepare, ...options }: OpenPageOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(60_000)
  const { origin } = new URL(address)
  const faults: PageFaults = { reports: [], foreign: [], errors: [] }
  await watch(context, origin, faults)
  await prepare?.(context)
  const page = await context.newPage()
  const addresses: string[] = []
  page.on('framenavigated', frame => addresses.push(frame.url()))
  page.on('console', message => {
    if (message.type() === 'error' && !isResponse(message.text())) faults.errors.push(message.text())
  })
  page.on('pageerror', error => faults.errors.push(error.stack ?? error.message))
  await page.goto(address)
  const kept = async (): Promise<string[]> => {
    const cookies = await context.cookies()
    return [...(await page.evaluate(keptByPage)), ...cookies.map(({ name }) => `cookie ${name}`)]
  }
  return { page, context, faults, addresses, kept }
}

/** Chromium reports every response of 400 and more. */
const isResponse = (text: string): boolean => text.startsWith('Failed to load resource: the server responded')

async function watch(context: BrowserContext, origin: string, faults: PageFaults): Promise<void> {
  context.on('request', request => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) faults.foreign.push(url)
  })
  await context.exposeBinding('reportOfTest', (_, text: string) => faults.reports.push(text))
  await context.addInitScript(sendReports)
}
