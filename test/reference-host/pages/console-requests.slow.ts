// What the console shows of refused requests and writes: words, groups, filters, export, and what a person looks up itself.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { bearer } from '../../harness/host.ts'
import { connected } from '../../host/http/mcp/mcp-client.ts'
import { moneyUser } from '../harness/money.ts'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { openTab, programOf, type Program } from '../harness/pages/console-page.ts'
import { openHelper, press, shows, signInBy } from '../harness/pages/helper-page.ts'
import { checkState } from '../harness/pages/page-checks.ts'

const host = await startPageHost({ RATE_LIMITS: 'off' })
const browser = await startBrowser()
t.teardown(async () => {
  await browser.close()
  await host.close()
})

/** Makes a key with a daily limit below that of a program, and uses it up. */
async function refusedAgent({ token }: Program, label: string, amounts: readonly number[]) {
  const body = { label, policy: { dailySpendCapCents: 1000 } }
  const made = await host.send('/user/v1/keys', { body, headers: bearer(token) })
  const headers = { 'x-user-key': made.body['userApiKey'] as string }
  const minted = await host.send('/user/v1/sessions', { body: {}, headers })
  const agent = moneyUser(host.send, { token: minted.body['sessionToken'] as string })
  for (const amountCents of amounts) await agent.write('/subscriptions/payin', { amountCents })
  return made.body['userKeyId'] as string
}

t.test('shows refusals in words, in groups that open, by key, operation, day and result', async t => {
  const wallet = testWallet()
  const program = await programOf(host, wallet)
  const travel = await refusedAgent(program, 'agent-travel', [1010, 1163, 1163])
  await refusedAgent(program, 'agent-shopping', [1500])
  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet], {
    acceptDownloads: true,
  })
  await signInBy(page, wallet)
  await openTab(page, 'Requests')
  const rows = page.getByRole('row')
  const group = rows.filter({ hasText: '3 × Pay-in' })
  await group.waitFor()
  t.match(await group.innerText(), /10\.10 to 11\.63\s+agent-travel\s+Refused · daily limit/)
  const single = rows.filter({ hasText: 'Pay-in of 15.00 USD' })
  t.match(await single.innerText(), /agent-shopping\s+Refused · daily limit/)
  t.notMatch(
    await page.getByRole('main').innerText(),
    /dailySpendCapCents|subscriptions\.payin|policy_blocked/,
  )

  t.equal(await page.getByRole('link', { name: 'Pay-in of 11.63 USD' }).count(), 0)
  await group.getByRole('button').click()
  t.equal(await page.getByRole('link', { name: 'Pay-in of 11.63 USD' }).count(), 2)
  await checkState(t, page, 'an open group')
  await group.getByRole('button').click()
  t.equal(await page.getByRole('link', { name: 'Pay-in of 11.63 USD' }).count(), 0)

  await page.getByLabel('Key', { exact: true }).selectOption('agent-shopping')
  await group.waitFor({ state: 'detached' })
  await single.waitFor()
  await page.getByLabel('Key', { exact: true }).selectOption('agent-travel')
  await page.getByLabel('What').selectOption('Pay-in')
  await page.getByLabel('Result').selectOption('Refused')
  await page.getByLabel('From').fill(new Date().toISOString().slice(0, 10))
  await group.waitFor()
  t.equal(await rows.count(), 2, 'the head, and the group, which is closed')
  const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Export CSV')])
  const lines = readFileSync(await download.path(), 'utf8')
    .trimEnd()
    .split('\r\n')
  t.equal(download.suggestedFilename(), 'requests.csv')
  t.equal(lines.length, 4)
  for (const line of lines.slice(1)) t.match(line, travel)
  await page.getByLabel('Result').selectOption('Failed')
  await shows(page, 'No requests match these filters.')
  await press(page, 'Clear filters')
  await single.waitFor()
  await page.getByLabel('Search').fill('15.00')
  await page.keyboard.press('Enter')
  await group.waitFor({ state: 'detached' })
  await single.waitFor()
  await press(page, 'Clear filters')
  await group.waitFor()

  await single.getByRole('link').click()
  const drawer = page.getByRole('dialog')
  await drawer.getByText('It would be refused now, too.').waitFor()
  t.match(await drawer.innerText(), /POST subscriptions\.payin · 403 policy_blocked · dailySpendCapCents/)
  t.match(
    await drawer.getByRole('link', { name: 'About this error' }).getAttribute('href'),
    /^\/errors#policy_blocked\.dailySpendCapCents$/,
  )
  await checkState(t, page, 'a request')
  await drawer.getByRole('link', { name: 'Open key' }).click()
  await page.getByRole('dialog', { name: 'Key' }).getByText('agent-shopping').first().waitFor()
  t.same(faults, { reports: [], foreign: [], errors: [] })
})

t.test('does not list what a person looks up in the console, and says what an unknown id is', async t => {
  const wallet = testWallet()
  const { page } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await signInBy(page, wallet)
  await openTab(page, 'Requests')
  await page.getByLabel('Search').fill('Lunch')
  await page.keyboard.press('Enter')
  await shows(page, 'No request mentions Lunch.')
  await page.getByLabel('Search').fill('0ffe0345-6c0a-4d53-8a4e-6f4f8a3a2b11')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByText('No request with this id is kept').waitFor()
  t.equal(await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).count(), 0)
  await press(page, 'Close')
  t.equal(await page.getByLabel('Search').inputValue(), '', 'an id is no filter')
  await page.getByLabel('Result').selectOption('Refused')
  await shows(page, 'No requests match these filters.')
  await openTab(page, 'Overview')
  const tile = page.locator('.tile').filter({ hasText: 'Refused today' })
  await tile.getByText('0', { exact: true }).waitFor()
})

t.test('says which requests came by a tool', async t => {
  const wallet = testWallet()
  const program = await programOf(host, wallet)
  const agent = await connected(t, host.url, program.token)
  const bill = { payee: 'City Power', amountCents: 100, dueAt: '2099-01-01' }
  await program.write('/bills', bill)
  await agent.callTool({ name: 'bills.create', arguments: { ...bill, intent: 'the bill of May' } })
  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await signInBy(page, wallet)
  await openTab(page, 'Requests')
  const rows = page.getByRole('row').filter({ hasText: 'Note a bill' })
  await rows.nth(1).waitFor()
  t.match(await rows.nth(0).innerText(), /by tool/)
  t.notMatch(await rows.nth(1).innerText(), /by tool/)
  await checkState(t, page, 'a request by a tool')
  await rows.nth(0).getByRole('link').click()
  await page.getByRole('dialog').getByText('Yes: an agent called a tool of this host').waitFor()
  t.same(faults, { reports: [], foreign: [], errors: [] })
})
