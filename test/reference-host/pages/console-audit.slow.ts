// What the console shows of changes: who did what to which key, by key, kind and day.
import t from 'tap'
import { startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { bearer } from '../../harness/host.ts'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { openTab, programOf } from '../harness/pages/console-page.ts'
import { openHelper, press, shows, signInBy } from '../harness/pages/helper-page.ts'
import { checkState } from '../harness/pages/page-checks.ts'

const host = await startPageHost({ RATE_LIMITS: 'off' })
const browser = await startBrowser()
t.teardown(async () => {
  await browser.close()
  await host.close()
})

t.test('says who created, paused and revoked which key, with filters, pages and links', async t => {
  const wallet = testWallet()
  const root = await programOf(host, wallet)
  const send = (path: string, method: string, body: object = {}) =>
    host.send(`/user/v1${path}`, { method, body, headers: bearer(root.token) })
  await send(`/keys/${root.keyId}`, 'PATCH', { label: 'server' })
  const ids = new Map<string, string>()
  for (const label of ['travel', 'shopping'])
    ids.set(label, (await send('/keys', 'POST', { label })).body['userKeyId'] as string)
  await send(`/keys/${ids.get('travel')}/pause`, 'POST')
  await send(`/keys/${ids.get('shopping')}`, 'DELETE')
  // More changes than a page has.
  for (let n = 0; n < 50; n++) await send(`/keys/${ids.get('travel')}`, 'PATCH', { label: `travel ${n}` })

  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await signInBy(page, wallet)
  await openTab(page, 'Audit')
  const rows = page.getByRole('row')
  await rows.filter({ hasText: 'changed the rights or the name of the key "travel 49"' }).waitFor()
  const main = page.getByRole('main')
  t.notMatch(await main.innerText(), /started a session|key\.change|session\.create/)
  await press(page, 'Show older ones')
  await rows.filter({ hasText: 'The key "server" revoked the key "shopping".' }).waitFor()
  await rows.filter({ hasText: 'The key "server" paused the key "travel".' }).waitFor()
  t.equal(await page.getByRole('button', { name: 'Show older ones' }).count(), 0)

  await page.getByLabel('What').selectOption('Keys revoked')
  await rows.nth(2).waitFor({ state: 'detached' })
  const revoked = rows.filter({ hasText: 'revoked the key "shopping"' })
  t.match(await revoked.innerText(), /^\d+ \w+, \d\d:\d\d:\d\d\s/)
  await checkState(t, page, 'filtered changes')
  await page.getByLabel('What').selectOption('Sessions')
  await rows.filter({ hasText: 'The key "server" started a session.' }).first().waitFor()
  await page.getByLabel('What').selectOption('The account')
  await shows(page, 'No changes match these filters.')
  await press(page, 'Clear filters')
  await page.getByLabel('Key', { exact: true }).selectOption('travel 49')
  await rows.filter({ hasText: 'travel 49' }).first().waitFor()
  t.notMatch(await main.locator('table').innerText(), /shopping/)
  await page.getByLabel('To', { exact: true }).fill('2020-01-01')
  await shows(page, 'No changes match these filters.')
  await press(page, 'Clear filters')

  await rows.filter({ hasText: 'travel 49' }).first().getByRole('link', { name: 'travel 49' }).click()
  await page.getByRole('dialog', { name: 'Key' }).getByText('Paused').first().waitFor()
  t.same(faults, { reports: [], foreign: [], errors: [] })
})
