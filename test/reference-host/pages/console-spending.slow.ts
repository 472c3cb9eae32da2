// The plot of what was spent, on the overview of the console.
import type { Route } from 'playwright-core'
import t from 'tap'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { programOf, spendSome } from '../harness/pages/console-page.ts'
import { openHelper, signInBy } from '../harness/pages/helper-page.ts'

const host = await startPageHost({ RATE_LIMITS: 'off' })
t.teardown(() => host.close())
const browser = await startBrowser()
t.teardown(() => browser.close())

/** Makes the oldest transaction, which put money in, 29 days older, so that the plot has 30 days. */
async function withAMonth(route: Route): Promise<void> {
  const response = await route.fetch()
  const body = (await response.json()) as { data: { transactions: { createdAt: string }[] } }
  const oldest = body.data.transactions.at(-1)
  if (oldest) oldest.createdAt = new Date(Date.parse(oldest.createdAt) - 29 * 86_400_000).toISOString()
  await route.fulfill({ response, json: body })
}

t.test('reads a day of the plot out by arrow keys', async t => {
  const wallet = testWallet()
  await spendSome(host, await programOf(host, wallet))
  const { page } = await openHelper(browser, `${host.url}/helper`, [wallet], {
    prepare: context => context.route('**/user/v1/transactions?*', withAMonth),
  })
  await signInBy(page, wallet)
  const plot = page.getByRole('slider')
  await plot.focus()
  t.match(
    await plot.getAttribute('aria-valuetext'),
    /: 46\.60 USD \(Cards 22\.40, Payments 20\.00, Bills 4\.20\)/,
  )
  await page.keyboard.press('ArrowLeft')
  t.match(await plot.getAttribute('aria-valuetext'), /: 0\.00 USD$/)
  t.equal(await plot.getAttribute('aria-valuenow'), '29')
  await page.keyboard.press('Home')
  t.equal(await plot.getAttribute('aria-valuenow'), '1')
  const area = page.locator('.plot-area')
  const { width = 0 } = (await area.boundingBox()) ?? {}
  await area.hover({ position: { x: (width * 15.5) / 30, y: 60 } })
  t.equal(await plot.getAttribute('aria-valuenow'), '16', 'and by the pointer')
  const heights = await page
    .locator('.plot-day')
    .last()
    .locator('.swatch')
    .evaluateAll(pieces => pieces.map(piece => piece.getBoundingClientRect().height))
  const [cards = 0, payments = 0, bills = 0] = heights
  t.ok(
    Math.abs(cards / payments - 22.4 / 20) < 0.05,
    `${heights.join(' ')}: pieces are as high as their amounts`,
  )
  t.ok(bills > 0 && bills < payments)
})

t.test('begins the plot with the first day of an account', async t => {
  const wallet = testWallet()
  await spendSome(host, await programOf(host, wallet))
  const { page } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await signInBy(page, wallet)
  t.equal(await page.getByRole('slider').getAttribute('aria-valuemax'), '1')
})
