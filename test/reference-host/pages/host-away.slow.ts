import t from 'tap'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { openTab } from '../harness/pages/console-page.ts'
import { openHelper, signInBy } from '../harness/pages/helper-page.ts'
import { checkState } from '../harness/pages/page-checks.ts'

const host = await startPageHost({ RATE_LIMITS: 'off' })
t.teardown(() => host.close())
const browser = await startBrowser()
t.teardown(() => browser.close())
const HOST = `${host.url}/**`

async function openConsole(colorScheme: 'light' | 'dark' = 'light') {
  const wallet = testWallet('Rabbit Wallet')
  const { page } = await openHelper(browser, `${host.url}/helper`, [wallet], { colorScheme })
  await signInBy(page, wallet)
  await page.getByText('Available', { exact: true }).waitFor()
  return page
}

for (const scheme of ['light', 'dark'] as const) {
  await t.test(
    `one banner says that the host does not answer, and the last figures stay, ${scheme}`,
    async t => {
      const page = await openConsole(scheme)
      const available = page.locator('.tile').first()
      await available.getByText('0.00').waitFor()
      await page.route(HOST, route => route.abort())
      await openTab(page, 'Keys')
      const banner = page.getByRole('region', { name: 'Connection' })
      await banner.getByText(/^The host does not answer\. Retrying in \d s\.$/).waitFor()
      t.equal(await page.locator('.note.bad').count(), 0, 'no part repeats it')
      await checkState(t, page, 'away')
      await page.unroute(HOST)
      await banner.getByRole('button', { name: 'Retry now' }).click()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      t.equal(await banner.count(), 0)
      await page.context().close()
    },
  )
}

await t.test('every part of the overview is read when the host answers again, without a click', async t => {
  const page = await openConsole()
  await openTab(page, 'Settings')
  await page.route(HOST, route => route.abort())
  await openTab(page, 'Overview')
  await page.getByRole('region', { name: 'Connection' }).waitFor()
  t.equal(await page.getByRole('region', { name: 'Connection' }).count(), 1)
  t.equal(await page.locator('.note.bad').count(), 0)
  await page.unroute(HOST)
  await page.getByRole('region', { name: 'Connection' }).waitFor({ state: 'detached' })
  await page.locator('.tile').first().getByText('0.00').waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  t.equal(await page.locator('.host-away').count(), 0)
  await page.context().close()
})

await t.test('a host that refuses is shown in the part, without a banner', async t => {
  const page = await openConsole()
  await page.route('**/user/v1/keys*', route =>
    route.fulfill({ status: 503, json: { error: 'service_unavailable', message: 'a store is down' } }),
  )
  await openTab(page, 'Keys')
  await page.locator('.note.bad').first().waitFor()
  t.equal(await page.getByRole('region', { name: 'Connection' }).count(), 0)
  await page.context().close()
})
