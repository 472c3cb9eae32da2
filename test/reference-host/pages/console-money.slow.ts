// Transactions and pay-ins of the console: filters, the search by id, the drawer and the export.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { openTab, programOf, spendSome } from '../harness/pages/console-page.ts'
import { openHelper, shows, signInBy } from '../harness/pages/helper-page.ts'
import { checkState } from '../harness/pages/page-checks.ts'

const host = await startPageHost({ RATE_LIMITS: 'off' })
const browser = await startBrowser()
t.teardown(async () => {
  await browser.close()
  await host.close()
})

t.test('finds transactions by filters and id, shows one with its ids, and exports them', async t => {
  const wallet = testWallet()
  const program = await programOf(host, wallet)
  await spendSome(host, program)
  const other = await programOf(host, wallet)
  await other.fund(700)
  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet], {
    acceptDownloads: true,
  })
  await signInBy(page, wallet)
  await openTab(page, 'Transactions')
  await shows(page, 'All 6 shown.')
  const links = page.getByRole('table').getByRole('link')

  await page.getByLabel('Type').selectOption('Payments, bills, pay-ins')
  await shows(page, 'All 2 shown.')
  t.match(new URL(page.url()).hash, '#/transactions?type=payment', 'the address keeps the filter')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\r\n')
  t.equal(download.suggestedFilename(), 'transactions.csv')
  t.match(lines, [
    /^\uFEFF?id,created_at,/,
    /,"payment","completed","debit",4\.20,420,/,
    /,"payment","completed","debit",20\.00,2000,/,
  ])
  await page.reload()
  await shows(page, 'All 2 shown.')
  await page.getByLabel('Status').selectOption('Failed')
  await shows(page, 'No transactions match these filters.')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await shows(page, 'All 6 shown.')
  await page.getByLabel('Key', { exact: true }).selectOption(other.keyId)
  await shows(page, '1 shown.')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await shows(page, 'All 6 shown.')

  await links.filter({ hasText: 'Payment sent' }).click()
  const drawer = page.getByRole('dialog', { name: 'Transaction' })
  await drawer.getByText('−20.00 USD').waitFor()
  const id = decodeURIComponent(new URL(page.url()).hash.split('/')[2] as string)
  await drawer.getByRole('button', { name: 'Copy transaction id' }).waitFor()
  t.ok(await drawer.getByText(id).isVisible())
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  await page.getByLabel('Search').fill(id)
  await page.keyboard.press('Enter')
  await shows(page, '1 shown.')
  await page.getByLabel('Search').fill('lunch')
  await page.keyboard.press('Enter')
  await shows(page, 'No transaction mentions lunch.')
  t.same(faults, { reports: [], foreign: [], errors: [] })
})

t.test('says of each row to whom and what for, and finds it by any word of it', async t => {
  const wallet = testWallet()
  const program = await programOf(host, wallet)
  await program.fund(10_000)
  const address = '0x5290000000000000000000000000000000009ee7'
  const destination = { currency: 'usdc', network: 'base', address }
  t.equal((await program.write('/withdrawals', { amountCents: 700, destination })).status, 200)
  const noted = await program.write('/bills', {
    payee: 'City Power',
    amountCents: 420,
    dueAt: '2030-01-01',
    reference: 'INV-1',
  })
  const { id: billId } = noted.body.data['bill'] as { id: string }
  t.equal((await program.write(`/bills/${billId}/pay`, {})).status, 200)
  for (const order of ['1003', '1004'])
    await program.write('/subscriptions/payin', {
      amountCents: 1163,
      description: `Order ${order}`,
      metadata: { basket: `basket-${order}` },
    })
  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await signInBy(page, wallet)
  await page.getByRole('link', { name: 'Bill of City Power · INV-1' }).waitFor()
  t.match(await page.locator('.latest').innerText(), /Withdrawal to 0x5290…9ee7 on Base[^]*Key …/)

  const search = async (text: string): Promise<void> => {
    await page.getByLabel('Search').fill(text)
    await page.keyboard.press('Enter')
  }
  await openTab(page, 'Transactions')
  for (const [text, found] of [
    ['city power', 'Bill of City Power · INV-1'],
    ['4.20', 'Bill of City Power · INV-1'],
    [address, 'Withdrawal to 0x5290…9ee7 on Base'],
    ['0x5290', 'Withdrawal to 0x5290…9ee7 on Base'],
  ] as const) {
    await search(text)
    await page.getByRole('row').filter({ hasText: found }).waitFor()
    await shows(page, '1 shown.')
  }
  await search('Lunch')
  await shows(page, 'No transaction mentions Lunch.')
  await openTab(page, 'Pay-ins')
  await shows(page, 'All 2 shown.')
  for (const text of ['1003', 'basket-1003', 'order 1003']) {
    await search(text)
    await shows(page, '1 shown.')
    await page.getByRole('row').filter({ hasText: 'Order 1003' }).waitFor()
  }
  await checkState(t, page, 'pay-ins that were searched')
  await page.getByRole('link', { name: 'Order 1003' }).click()
  await page.getByRole('dialog', { name: 'Pay-in' }).getByText('basket-1003').waitFor()
  await page.keyboard.press('Escape')
  await search('Order 9')
  await shows(page, 'No pay-in mentions Order 9.')
  t.same(faults, { reports: [], foreign: [], errors: [] })
})

t.test('lists the pay-ins with their time line', async t => {
  const wallet = testWallet()
  const program = await programOf(host, wallet)
  await program.fund(1000)
  const paid = await program.write('/subscriptions/checkout', { plan: 'basic' })
  const payin = paid.body.data['payin'] as { id: string }
  await program.write('/subscriptions/payin/confirm-balance', { payinId: payin.id })
  await program.write('/subscriptions/checkout', { plan: 'basic' })
  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await signInBy(page, wallet)
  await openTab(page, 'Pay-ins')
  await shows(page, 'All 2 shown.')
  await page.getByLabel('Status').selectOption('Settled')
  await shows(page, '1 shown.')
  await page.getByRole('table').getByRole('link').click()
  const drawer = page.getByRole('dialog', { name: 'Pay-in' })
  await drawer.getByText('Paid from balance').waitFor()
  t.equal(await drawer.getByRole('listitem').count(), 2)
  t.ok(await drawer.getByText(payin.id).isVisible())
  t.same(faults, { reports: [], foreign: [], errors: [] })
})
