// Every state of the account console fits a phone and passes axe-core.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page, Route } from 'playwright-core'
import t from 'tap'
import { testWallet, type TestWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import {
  accountOf,
  chooseForKey,
  openTab,
  programOf,
  spendSome,
  writeTransactions,
} from '../harness/pages/console-page.ts'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { heading, openHelper, pick, press, shows, signInBy } from '../harness/pages/helper-page.ts'
import { bearer } from '../../harness/host.ts'
import { testStates, type PageState, type Scheme } from '../harness/pages/page-checks.ts'

const DATA_DIR = mkdtempSync(join(tmpdir(), 'gatewright-console-'))
const host = await startPageHost({ DATA_DIR, SERVICE_NAME: 'Acme Pay', RATE_LIMITS: 'off' })
const browser = await startBrowser()
t.teardown(async () => {
  await browser.close()
  await host.close()
  rmSync(DATA_DIR, { recursive: true, force: true })
})

/** A wallet whose account has something of everything. */
const funded = testWallet('Rabbit Wallet')
const fresh = testWallet('Rabbit Wallet')
const { db, close } = openDatabaseOf({ DATA_DIR })
const limits = [
  { operations: ['bills.*'], window: 'month', maxCents: 700 },
  { operations: ['cards.authorize'], window: 'day', maxCount: 5 },
]
const program = await programOf(host, funded, {
  maxAuthAmountCents: 5000,
  dailySpendCapCents: 10_000,
  limits,
})
await spendSome(host, program)
await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': program.key } })
await program.write('/subscriptions/checkout', { plan: 'basic' })
await program.write('/subscriptions/payin', { amountCents: 20_000 })
await programOf(host, funded)
const child = {
  label: 'agent-shopping',
  scopes: ['users.read', 'keys.read'],
  policy: { dailySpendCapCents: 4660, allowedIps: ['10.0.0.0/8'] },
}
await host.send('/user/v1/keys', { body: child, headers: bearer(program.token) })
const asking = { label: 'agent-asking', policy: { approveAboveCents: 100 } }
const asker = await host.send('/user/v1/keys', { body: asking, headers: bearer(program.token) })
const asked = await host.send('/user/v1/sessions', {
  body: {},
  headers: { 'x-user-key': asker.body['userApiKey'] as string },
})
const bill = (await program.write('/bills', { payee: 'City Power', amountCents: 200, dueAt: '2030-01-01' }))
  .body.data['bill'] as { id: string }
const waits = await host.send(`/user/v1/bills/${bill.id}/pay`, {
  body: {},
  headers: { ...bearer(asked.body['sessionToken'] as string), 'idempotency-key': 'city-power' },
})
if (waits.body['error'] !== 'approval_required')
  throw new Error(`a bill above the threshold must wait, got ${JSON.stringify(waits.body)}`)
await writeTransactions(db, await accountOf(db, funded.account), { count: 300, days: 40 })
await close()

async function at(
  scheme: Scheme,
  wallet: TestWallet,
  prepare?: (page: Page) => Promise<unknown>,
): Promise<Page> {
  const options = { colorScheme: scheme, viewport: { width: 1100, height: 800 } }
  const { page } = await openHelper(browser, `${host.url}/helper`, [wallet], options)
  await prepare?.(page)
  await signInBy(page, wallet)
  return page
}

/** A part of the console of an account, and what is done there. */
const part =
  (wallet: TestWallet, tab: string, go: (page: Page) => Promise<unknown> = async () => {}): PageState =>
  async scheme => {
    const page = await at(scheme, wallet)
    await openTab(page, tab)
    await go(page)
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    return page
  }
const first = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click()
const failing = (route: Route): Promise<void> =>
  route.fulfill({
    status: 503,
    headers: { 'x-request-id': '4bf92f3577b34da6', 'retry-after': '5' },
    json: { error: 'service_unavailable', message: 'a store is down' },
  })
/** A host that reports what is reserved separately. */
const reserving = async (route: Route): Promise<void> => {
  const reply = await route.fetch()
  const body = (await reply.json()) as { data: { caps: { used: number; reserved?: number }[] } }
  for (const cap of body.data.caps) cap.reserved = Math.floor(cap.used / 3)
  await route.fulfill({ response: reply, json: body })
}

const states: Readonly<Record<string, PageState>> = {
  'overview-empty': part(fresh, 'Overview'),
  overview: part(funded, 'Overview', page => page.getByText('Total', { exact: false }).first().waitFor()),
  'overview-reserved': async scheme => {
    const page = await at(scheme, funded, page => page.route('**/caps', reserving))
    await page.getByText('reserved').first().waitFor()
    await page.getByRole('slider').focus()
    await page.keyboard.press('ArrowLeft')
    await page.getByText('Show the numbers as a table').click()
    return page
  },
  'keys-empty': part(fresh, 'Keys'),
  keys: part(funded, 'Keys'),
  'keys-menu': part(funded, 'Keys', page =>
    page
      .getByLabel(/^Actions of key/)
      .first()
      .click(),
  ),
  'keys-none-found': part(funded, 'Keys', page => page.getByLabel('Find a key').fill('nothing')),
  key: part(funded, 'Keys', async page => {
    await page.getByRole('link', { name: 'agent-shopping' }).click()
    await page.getByRole('dialog').getByText('from a key above').first().waitFor()
  }),
  'key-narrow': part(funded, 'Keys', async page => {
    await chooseForKey(page, 'Tighten limits')
    await page.getByText('Scopes that it keeps').click()
  }),
  'key-rotate': part(funded, 'Keys', page => chooseForKey(page, 'Rotate')),
  'key-revoke': part(funded, 'Keys', page => chooseForKey(page, 'Revoke')),
  'sessions-alone': part(fresh, 'Sessions'),
  sessions: part(funded, 'Sessions'),
  'session-end': part(funded, 'Sessions', page => first(page, 'End')),
  'sessions-end-all': part(funded, 'Sessions', async page => {
    await page.getByText('Show the sessions').click()
    await first(page, 'End all')
  }),
  'cards-empty': part(fresh, 'Cards'),
  cards: part(funded, 'Cards'),
  card: part(funded, 'Cards', async page => {
    await page.locator('.card-tile').getByRole('link').first().click()
    await page.getByRole('dialog').getByText('Sandbox Merchant').first().waitFor()
  }),
  'transactions-empty': part(fresh, 'Transactions'),
  transactions: part(funded, 'Transactions', page => page.getByRole('row').nth(5).waitFor()),
  'transactions-filtered': part(funded, 'Transactions', async page => {
    await page.getByLabel('Status').selectOption('Declined')
    await shows(page, 'No transactions match these filters.')
  }),
  'transactions-failed': async scheme => {
    const page = await at(scheme, funded)
    await page.route('**/user/v1/transactions*', failing)
    await openTab(page, 'Transactions')
    await page.getByLabel('Type').selectOption('Card payments')
    await shows(page, '4bf92f3577b34da6')
    return page
  },
  transaction: part(funded, 'Transactions', async page => {
    await page.getByRole('row').nth(2).getByRole('link').click()
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  }),
  'payins-empty': part(fresh, 'Pay-ins'),
  payins: part(funded, 'Pay-ins', page => page.getByRole('row').nth(1).waitFor()),
  payin: part(funded, 'Pay-ins', async page => {
    await page.getByRole('row').nth(1).getByRole('link').click()
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  }),
  'approvals-empty': part(fresh, 'Approvals'),
  approvals: part(funded, 'Approvals', page => page.getByText('Bill of 2.00 USD').waitFor()),
  'approval-deny': part(funded, 'Approvals', page => first(page, 'Deny')),
  audit: part(funded, 'Audit', page => page.getByRole('row').nth(2).waitFor()),
  'requests-empty': part(fresh, 'Requests'),
  requests: part(funded, 'Requests', page => page.getByRole('row').nth(2).waitFor()),
  'requests-none-found': part(funded, 'Requests', async page => {
    await page.getByLabel('Result').selectOption('Failed')
    await shows(page, 'No requests match these filters.')
  }),
  request: part(funded, 'Requests', async page => {
    await page.getByRole('main').getByRole('table').getByRole('link', { name: 'Pay-in' }).last().click()
    await page.getByRole('dialog').waitFor()
  }),
  settings: part(funded, 'Settings'),
  'notifications-empty': part(fresh, 'Notifications'),
  notifications: part(funded, 'Notifications'),
  loading: async scheme => {
    const page = await at(scheme, funded)
    await page.route('**/user/v1/keys*', () => {})
    await openTab(page, 'Keys')
    await page.locator('.skeleton').first().waitFor()
    // The grey lines appear after 150 ms.
    await page.waitForTimeout(200)
    return page
  },
  failed: async scheme => {
    const page = await at(scheme, funded)
    await page.route('**/user/v1/keys*', failing)
    await openTab(page, 'Keys')
    await shows(page, '4bf92f3577b34da6')
    return page
  },
  expired: async scheme => {
    const page = await at(scheme, funded)
    await page.route('**/user/v1/keys*', route =>
      route.fulfill({ status: 401, json: { error: 'unauthorized' } }),
    )
    // By its address: where the overview reads the keys only now, the session has ended already, and there is no link.
    await page.evaluate('location.hash = "#/keys"')
    await heading(page, 'Your session has ended')
    return page
  },
  'not-opened': async scheme => {
    const options = { colorScheme: scheme }
    const { page } = await openHelper(browser, `${host.url}/helper`, [funded], options)
    await page.route('**/auth/console', failing)
    await pick(page, funded.name)
    await press(page, 'Sign in')
    await heading(page, 'Your account cannot be shown')
    return page
  },
  'signed-out': part(fresh, 'Overview', async page => {
    await press(page, 'Sign out')
    await heading(page, 'You are signed out')
  }),
}

await testStates(t, 'console', states, { count: 10 })

await t.test('the words of the navigation do not touch each other at 320 px', async t => {
  const page = await at('light', fresh)
  await page.setViewportSize({ width: 320, height: 640 })
  await press(page, 'More')
  const words = await page.locator('.nav-link span').all()
  const boxes = (await Promise.all(words.map(word => word.boundingBox()))).flatMap(box => box ?? [])
  t.equal(boxes.length, 12)
  const ordered = boxes.toSorted((a, b) => a.y - b.y || a.x - b.x)
  for (const [place, { x, y, width }] of ordered.entries()) {
    const next = ordered[place + 1]
    if (next?.y === y) t.ok(next.x - (x + width) >= 4, `${place}: ${next.x - (x + width)} px`)
    t.ok(x >= 2 && x + width <= 318)
  }
  await page.context().close()
})
