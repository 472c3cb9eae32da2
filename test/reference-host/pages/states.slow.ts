// Every state of /helper fits a phone and passes axe-core.
import type { Page } from 'playwright-core'
import t from 'tap'
import { REJECTED, switchAccount, testWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost, type OpenPage } from '../../harness/browser/browser.ts'
import { openTab } from '../harness/pages/console-page.ts'
import {
  heading,
  openHelper,
  pick,
  press,
  shows,
  signInBy,
  startCli,
  typeCode,
} from '../harness/pages/helper-page.ts'
import { testStates, type PageState, type Scheme } from '../harness/pages/page-checks.ts'

const host = await startPageHost({ SERVICE_NAME: 'Acme Pay Sandbox' })
t.teardown(() => host.close())
const browser = await startBrowser()
t.teardown(() => browser.close())

const wallets = (): ReturnType<typeof testWallet>[] => [
  testWallet('Rabbit Wallet'),
  testWallet('Fox', { rdns: 'io.example.fox', icon: 'https://example.com/icon.png' }),
]

async function opened(
  scheme: Scheme,
  path = '/helper',
  given = wallets(),
): Promise<OpenPage & { given: typeof given }> {
  const address = path.startsWith('http') ? path : host.url + path
  const options = { colorScheme: scheme, viewport: { width: 900, height: 700 } }
  return { ...(await openHelper(browser, address, given, options)), given }
}

async function atAccount(scheme: Scheme) {
  const open = await opened(scheme)
  await pick(open.page, 'Rabbit Wallet')
  await heading(open.page, 'Sign in with this account')
  return { ...open, wallet: open.given[0] as ReturnType<typeof testWallet> }
}

async function atCheck(scheme: Scheme, from?: string) {
  const started = await startCli(host.url, from)
  const open = await opened(scheme, started.url)
  await pick(open.page, 'Rabbit Wallet')
  await heading(open.page, 'Does this come from you?')
  return { ...open, ...started }
}

async function atKey(scheme: Scheme): Promise<OpenPage> {
  const open = await opened(scheme)
  await signInBy(open.page, open.given[0] as ReturnType<typeof testWallet>)
  await openTab(open.page, 'Keys')
  await press(open.page, 'Create key')
  return open
}

/** Goes on to a state and gives its page. */
const then =
  <T extends { page: Page }>(
    begin: (scheme: Scheme) => Promise<T>,
    go: (open: T) => Promise<unknown>,
  ): PageState =>
  async scheme => {
    const open = await begin(scheme)
    await go(open)
    return open.page
  }

const states: Readonly<Record<string, PageState>> = {
  'pick-wallet': then(opened, ({ page }) => page.getByText('Rabbit Wallet').waitFor()),
  'no-wallet': then(
    scheme => opened(scheme, '/helper', []),
    ({ page }) => shows(page, 'No wallet was found'),
  ),
  connecting: then(opened, async ({ page, given }) => {
    for (const wallet of given) wallet.errorFor = () => new Promise(() => {})
    await pick(page, 'Rabbit Wallet')
    await heading(page, 'Open Rabbit Wallet')
  }),
  account: then(atAccount, async () => {}),
  signing: then(atAccount, async ({ page, wallet }) => {
    wallet.errorFor = method => (method === 'personal_sign' ? new Promise(() => {}) : undefined)
    await press(page, 'Sign in')
    await page.getByText('The whole text').click()
  }),
  rejected: then(atAccount, async ({ page, wallet }) => {
    wallet.errorFor = method => (method === 'personal_sign' ? REJECTED : undefined)
    await press(page, 'Sign in')
    await heading(page, 'You did not sign')
  }),
  'account-changed': then(atAccount, async ({ page, wallet }) => {
    await switchAccount(page, wallet)
    await heading(page, 'The account has changed')
  }),
  'not-accepted': then(atAccount, async ({ page, wallet }) => {
    wallet.account = { ...wallet.account, signMessage: testWallet().account.signMessage }
    await press(page, 'Sign in')
    await heading(page, 'The signature was not accepted')
  }),
  'host-down': then(atAccount, async ({ page }) => {
    await page.route('**/auth/challenge', route => route.abort())
    await press(page, 'Sign in')
    await heading(page, 'You are not signed in')
  }),
  'signed-in': then(opened, ({ page, given }) => signInBy(page, given[0] as ReturnType<typeof testWallet>)),
  'key-form': then(atKey, async () => {}),
  'key-form-agent': then(atKey, async ({ page }) => {
    await page.getByLabel('Agent with an allowance').check()
    await page.getByLabel('Number of cards').fill('3')
    await page.getByLabel('Tell me at').fill('80')
    await page.getByLabel('Pays only').fill('biller:City Power')
    await page.getByRole('tab', { name: 'curl' }).click()
  }),
  'key-form-wrong': then(atKey, async ({ page }) => {
    await page.getByLabel('Custom').check()
    await page.getByLabel('Per payment').fill('a lot')
    await page.getByLabel('Tell me at').fill('200')
    await page.getByLabel('Pays only').fill('everyone')
    await page.getByLabel('write').first().check()
    await press(page, 'Add a limit for one kind of operation')
    await page.getByLabel('Allowed addresses').fill('my office')
    await press(page, 'Create key')
  }),
  'key-shown': then(atKey, async ({ page }) => {
    await press(page, 'Create key')
    await press(page, 'Show')
    await page.getByRole('tab', { name: 'Python' }).click()
    await press(page, 'Back to your account')
  }),
  'sign-in-ended': then(atKey, async ({ page }) => {
    await page.route('**/identity/user-api-keys', route =>
      route.fulfill({ status: 401, json: { error: 'unauthorized' } }),
    )
    await press(page, 'Create key')
    await heading(page, 'Your sign-in has ended')
  }),
  kyc: then(
    scheme => opened(scheme, '/helper#kyc'),
    async ({ page }) => {
      await pick(page, 'Rabbit Wallet')
      await press(page, 'Sign in')
      await shows(page, 'Not begun')
    },
  ),
  'another-origin': then(
    scheme => opened(scheme, `${host.url.replace('127.0.0.1', 'localhost')}/helper`),
    ({ page }) => shows(page, 'Open the page there'),
  ),
  'cli-check': then(atCheck, async () => {}),
  'cli-other-network': then(
    scheme => atCheck(scheme, '203.0.113.9'),
    async ({ page, code }) => {
      await typeCode(page, code)
      await press(page, 'Approve sign-in')
    },
  ),
  'cli-wrong-code': then(atCheck, async ({ page }) => {
    await typeCode(page, 'BBBB2222')
    await press(page, 'Approve sign-in')
    await shows(page, 'This is not the code')
  }),
  'cli-done': then(atCheck, async ({ page, code }) => {
    await typeCode(page, code)
    await press(page, 'Approve sign-in')
    await heading(page, 'Go back to your terminal')
  }),
  'cli-denied': then(atCheck, async ({ page, code }) => {
    await typeCode(page, code)
    await press(page, 'Deny')
    await heading(page, 'You denied the sign-in')
  }),
  'cli-over': then(
    scheme => opened(scheme, `/helper#request=${'0'.repeat(32)}`),
    ({ page }) => heading(page, 'This sign-in is over'),
  ),
}

await testStates(t, 'helper', states, { count: 8 })
