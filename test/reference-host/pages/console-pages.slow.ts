// A console of an account with more keys and sessions than one page of the host's lists has.
import t from 'tap'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { openTab, programOf } from '../harness/pages/console-page.ts'
import { openHelper, shows, signInBy } from '../harness/pages/helper-page.ts'
import { bearer } from '../../harness/host.ts'

const host = await startPageHost({ RATE_LIMITS: 'off' })
const browser = await startBrowser()
t.teardown(async () => {
  await browser.close()
  await host.close()
})

t.test('shows every key and every session', async t => {
  const wallet = testWallet()
  const first = await programOf(host, wallet, { limits: [] })
  const headers = bearer(first.token)
  // A policy of 7 kB: the host ends a page of keys at 32 kB, so four of these fill one. A page of sessions has 100.
  const operations = Array.from({ length: 80 }, (_, n) => `tag.${'x'.repeat(80)}${n}`)
  const policy = { limits: [{ operations, maxCount: 1, window: 'day' }] }
  for (let n = 0; n < 9; n++) {
    const made = await host.send('/user/v1/keys', { body: { policy }, headers })
    t.equal(made.status, 200)
  }
  for (let n = 0; n < 120; n++) {
    const minted = await host.send('/user/v1/sessions', {
      body: { ttlSeconds: 86_400, scopes: [] },
      headers: { 'x-user-key': first.key },
    })
    t.equal(minted.status, 200)
  }
  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await signInBy(page, wallet)
  await openTab(page, 'Keys')
  const menus = page.getByLabel(/^Actions of key/)
  await menus.first().waitFor()
  t.equal(await menus.count(), 10, 'the nine and the first one')
  await openTab(page, 'Sessions')
  await shows(page, '121 sessions')
  await page.getByText('Show the sessions').click()
  t.equal(
    await page.getByRole('button', { name: 'End', exact: true }).count(),
    121,
    '120 made above and one of programOf; the console has no button for its own session',
  )
  t.same(faults, { reports: [], foreign: [], errors: [] })
})
