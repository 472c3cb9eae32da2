// What the console says when a key is looked for and ended: its cards, its open pay-ins, and the key afterwards.
import t from 'tap'
import { startBrowser } from '../../harness/browser/browser.ts'
import { bearer } from '../../harness/host.ts'
import { freePort } from '../../harness/services.ts'
import { moneyUser } from '../harness/money.ts'
import { startOperatedHost } from '../harness/operator.ts'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { chooseForKey, openTab, programOf } from '../harness/pages/console-page.ts'
import { heading, openHelper, press, shows, signInBy } from '../harness/pages/helper-page.ts'
import { checkState } from '../harness/pages/page-checks.ts'

const host = await startOperatedHost({ PORT: String(await freePort()), RATE_LIMITS: 'off' })
const browser = await startBrowser()
t.teardown(async () => {
  await browser.close()
  await host.close()
})

t.test('finds cards by the key that made them, and ends a key with what it reserves in sight', async t => {
  const wallet = testWallet()
  const root = await programOf(host, wallet)
  await root.write('/cards', { limit: { amount: 50_000, frequency: 'allTime' } })
  const made = await host.send('/user/v1/keys', { body: { label: 'leaky' }, headers: bearer(root.token) })
  const headers = { 'x-user-key': made.body['userApiKey'] as string }
  const minted = await host.send('/user/v1/sessions', { body: {}, headers })
  const leaky = moneyUser(host.send, { token: minted.body['sessionToken'] as string })
  await leaky.write('/cards', { limit: { amount: 7500, frequency: 'allTime' } })
  for (const amountCents of [1000, 1163]) await leaky.write('/subscriptions/payin', { amountCents })

  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await signInBy(page, wallet)
  await openTab(page, 'Cards')
  const tiles = page.locator('.card-tile')
  await tiles.nth(1).waitFor()
  await page.getByLabel('Made by key').selectOption('leaky')
  await tiles.nth(1).waitFor({ state: 'detached' })
  t.match(await tiles.innerText(), /75\.00 USD[^]*Made by leaky/)
  await checkState(t, page, 'cards of a key')
  await press(page, 'Clear filters')
  await tiles.nth(1).waitFor()
  await page.getByLabel('Search').fill('500.00')
  await page.keyboard.press('Enter')
  await tiles.nth(1).waitFor({ state: 'detached' })
  await page.getByLabel('Search').fill('Lunch')
  await page.keyboard.press('Enter')
  await shows(page, 'No card mentions Lunch.')

  await openTab(page, 'Keys')
  await chooseForKey(page, 'Revoke', 'leaky')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('2 open pay-ins, 21.63 USD reserved: they stay payable').waitFor()
  await dialog.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByRole('link', { name: 'leaky' }).waitFor({ state: 'detached' })
  await page.getByLabel('State').selectOption('ended')
  await page.getByRole('link', { name: 'leaky' }).click()
  await dialog.getByText('It may do nothing any more.').waitFor()
  t.match(await dialog.innerText(), /Revoked \d{4}-\d\d-\d\d [\d:]+ UTC\.[^]*Before: May /)
  t.notMatch(await dialog.innerText(), /Ends\s+Never/)
  await checkState(t, page, 'a revoked key')
  t.same(faults, { reports: [], foreign: [], errors: [] })
})

t.test('pauses a key, whose session is denied then, and resumes it', async t => {
  const wallet = testWallet()
  const root = await programOf(host, wallet)
  const made = await host.send('/user/v1/keys', { body: { label: 'suspect' }, headers: bearer(root.token) })
  const headers = { 'x-user-key': made.body['userApiKey'] as string }
  const mint = () => host.send('/user/v1/sessions', { body: {}, headers })
  const { body } = await mint()
  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await signInBy(page, wallet)
  await openTab(page, 'Keys')
  await page.getByRole('link', { name: 'suspect' }).click()
  const change = async (verb: string, after: string): Promise<void> => {
    await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).first().click()
    const question = page
      .getByRole('dialog')
      .filter({ hasText: `${verb} suspect?` })
      .last()
    await question.getByRole('button', { name: verb, exact: true }).last().click()
    await page.getByRole('dialog').getByRole('button', { name: after, exact: true }).first().waitFor()
  }
  await change('Pause', 'Resume')
  await page.locator('.badge', { hasText: 'Paused' }).first().waitFor()
  await checkState(t, page, 'a paused key')
  const denied = await host.send('/user/v1/keys', { headers: bearer(body['sessionToken'] as string) })
  t.match(JSON.stringify(denied.body), /key_paused/)
  t.match(JSON.stringify((await mint()).body), /key_paused/)
  await change('Resume', 'Pause')
  t.equal((await mint()).body['ok'], true)
  t.same(faults, { reports: [], foreign: [], errors: [] })
})

for (const scheme of ['light', 'dark'] as const)
  t.test(
    `says on every page that the account is frozen, what that means and whom to ask, ${scheme}`,
    async t => {
      const wallet = testWallet()
      const { token } = await programOf(host, wallet)
      const me = await host.send('/user/v1/users', { headers: bearer(token) })
      const accountId = (me.body.data['user'] as { id: string }).id.replace('usr_', 'acc_')
      const act = (verb: string) =>
        host.ask(`/operator/api/accounts/${verb}`, { body: { accountId, by: 'Ana', reason: 'ticket 7' } })
      const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet], {
        colorScheme: scheme,
      })
      await signInBy(page, wallet)
      await heading(page, 'Overview')
      const banner = page.getByRole('region', { name: 'Frozen account' })
      t.equal(await banner.count(), 0)
      t.equal((await act('freeze')).status, 200)
      await openTab(page, 'Keys')
      await banner.waitFor()
      const words = await banner.innerText()
      t.match(words, /Frozen: nothing leaves your account since \d{4}-\d\d-\d\d [\d:]+ UTC\./)
      t.match(words, /You can still see everything, lock cards and revoke keys, and money still arrives\./)
      t.match(words, /Only the operator of .+ can unfreeze it\. Write to support@example\.com, or see https:/)
      t.match(words, `Name your account: ${accountId}`)
      await checkState(t, page, 'frozen')
      await page.screenshot({ path: `build/screenshots/console-frozen-${scheme}.png` })
      await page.setViewportSize({ width: 390, height: 844 })
      await page.screenshot({ path: `build/screenshots/console-frozen-${scheme}-390.png` })
      await act('unfreeze')
      await openTab(page, 'Overview')
      await banner.waitFor({ state: 'detached' })
      t.same(faults, { reports: [], foreign: [], errors: [] })
      await page.context().close()
    },
  )

t.test('signs in with a test wallet by the link of the home page, and skips to the content', async t => {
  const { page, faults } = await openHelper(browser, `${host.url}/`, [])
  await page.getByRole('link', { name: 'Sign in with a test wallet' }).click()
  await heading(page, 'Overview')
  await page.keyboard.press('Tab')
  t.equal(page.url(), `${host.url}/helper#/overview`)
  await page.getByRole('link', { name: 'Skip to content' }).focus()
  await page.keyboard.press('Enter')
  t.equal(await page.locator(':focus').innerText(), 'Overview')
  t.equal(page.url(), `${host.url}/helper#/overview`, 'the address stays')
  t.same(faults, { reports: [], foreign: [], errors: [] })
})
