// What a person does in the console with sessions, cards, pay-ins and notifications.
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { testWallet, type TestWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost, type OpenPage } from '../../harness/browser/browser.ts'
import { openTab, programOf, spendSome, type Program, ends } from '../harness/pages/console-page.ts'
import { openHelper, press, shows, signInBy } from '../harness/pages/helper-page.ts'
import { bearer } from '../../harness/host.ts'

const host = await startPageHost({ RATE_LIMITS: 'off' })
const browser = await startBrowser()
t.teardown(async () => {
  await browser.close()
  await host.close()
})
const NONE = { reports: [], foreign: [], errors: [] }

async function open(wallet: TestWallet): Promise<OpenPage> {
  const options = { acceptDownloads: true }
  const opened = await openHelper(browser, `${host.url}/helper`, [wallet], options)
  await signInBy(opened.page, wallet)
  return opened
}
const newSession = async ({ key }: Program): Promise<string> =>
  (await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })).body[
    'sessionToken'
  ] as string
const drawerOf = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true })

t.test('shows what is below the set-up of the overview only when its height is known', async t => {
  const wallet = testWallet()
  await spendSome(host, await programOf(host, wallet))
  let release = (): void => {}
  const held = new Promise<void>(resolve => (release = resolve))
  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet], {
    prepare: context =>
      context.route('**/user/v1/onboarding', async route => {
        await held
        await route.continue()
      }),
  })
  await signInBy(page, wallet)
  await shows(page, '953.40 USD')
  const spending = page.getByRole('heading', { name: 'Spent in 30 days' })
  t.notOk(await spending.isVisible())
  release()
  await spending.waitFor()
  t.ok(await page.getByRole('heading', { name: 'Set-up' }).isVisible())
  await shows(page, '1 day of data.')
  t.same(faults, NONE)
})

t.test('ends all sessions of a key at once, and none of another one', async t => {
  const wallet = testWallet()
  const [server, other] = [await programOf(host, wallet), await programOf(host, wallet)]
  const label = 'agent-server'
  await host.send(`/user/v1/keys/${server.keyId}`, {
    method: 'PATCH',
    body: { label },
    headers: bearer(server.token),
  })
  const tokens = [server.token, await newSession(server), await newSession(server)]
  const { page, faults } = await open(wallet)
  await openTab(page, 'Sessions')
  const group = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: label }) })
  await group.getByText('3 sessions').waitFor()
  await group.getByText('Show the sessions').click()
  t.equal(await group.getByRole('button', { name: 'End', exact: true }).count(), 3)
  await group.getByRole('button', { name: 'End', exact: true }).first().click()
  await press(page, 'End session')
  await group.getByText('2 sessions').waitFor()
  await group.getByRole('button', { name: 'End all' }).click()
  await press(page, 'Cancel')
  await group.getByRole('button', { name: 'End all' }).click()
  await press(page, 'End all sessions')
  await group.waitFor({ state: 'detached' })
  for (const token of tokens) t.ok(await ends(host, token))
  t.equal((await host.send('/user/v1/users', { headers: bearer(other.token) })).status, 200)
  const again = await host.send('/user/v1/users', { headers: bearer(await newSession(server)) })
  t.equal(again.status, 200, 'the key works on')
  t.same(faults, NONE)
})

t.test('says that sessions may not have ended when the host did not confirm it', async () => {
  const wallet = testWallet()
  const program = await programOf(host, wallet)
  await newSession(program)
  const { page } = await open(wallet)
  await openTab(page, 'Sessions')
  await page.route('**/user/v1/keys/*', route =>
    route.fulfill({ status: 503, json: { error: 'x', message: 'y' } }),
  )
  await press(page, 'End all')
  await press(page, 'End all sessions')
  await shows(page, 'The sessions may not have ended.')
  await page.unroute('**/user/v1/keys/*')
  await press(page, 'Try again')
  await shows(page, 'Only this page is signed in')
})

t.test(
  'shows what is left of a card and its payments, locks it at once and unlocks it by a signature',
  async t => {
    const wallet = testWallet()
    const program = await programOf(host, wallet)
    await program.fund(100_000)
    const encrypted = await host.send('/user/v1/crypto/encrypt', {
      body: { items: [{ id: 'name', value: 'Groceries' }] },
      headers: bearer(program.token),
    })
    const [{ encrypted: encryptedName } = {}] = encrypted.body['items'] as { encrypted?: object }[]
    const limit = { amount: 5000, frequency: 'per30DayPeriod' }
    const made = await program.write('/cards', { limit, encryptedName })
    const { id } = made.body.data['card'] as { id: string }
    for (const amountCents of [1000, 250, 99_999])
      await program.write('/sandbox/authorizations', {
        cardId: id,
        amountCents,
        merchant: { name: 'Corner Shop' },
      })
    const { page, faults } = await open(wallet)
    await openTab(page, 'Cards')
    await shows(page, '12.50 spent, 37.50 left of 50.00 USD in 30 days')
    await page.getByRole('link', { name: 'Groceries' }).click()
    const drawer = drawerOf(page, 'Card')
    await drawer.getByText('Card limit exceeded').waitFor()
    t.equal(await drawer.getByRole('link', { name: 'Corner Shop' }).count(), 3)

    const texts = wallet.texts.length
    await drawer.getByRole('button', { name: 'Lock card' }).click()
    await page
      .getByRole('dialog', { name: 'Lock this card?' })
      .getByRole('button', { name: 'Lock card' })
      .click()
    await drawer.getByText('Locked').waitFor()
    t.equal(wallet.texts.length, texts, 'without a signature')
    const status = async (): Promise<unknown> =>
      ((await program.read(`/cards/${id}`)).body.data['card'] as { status: string }).status
    t.equal(await status(), 'locked')
    await drawer.getByRole('button', { name: 'Unlock card' }).click()
    await drawer.getByText('Active', { exact: true }).waitFor()
    t.equal(wallet.texts.length, texts + 1, 'by one signature')
    t.equal(await status(), 'active')

    await drawer.getByLabel('Pay with it, in USD').fill('much')
    await drawer.getByRole('button', { name: 'Simulate a payment' }).click()
    await drawer.getByText('Write an amount in dollars').waitFor()
    t.equal(wallet.texts.length, texts + 1)
    await drawer.getByLabel('Pay with it, in USD').fill('7.25')
    await drawer.getByRole('button', { name: 'Simulate a payment' }).click()
    await drawer.getByText('19.75 spent, 30.25 left').waitFor()
    await drawer.getByRole('link', { name: 'Sandbox Shop' }).click()
    await shows(page, '1 shown.')
    t.match(new URL(page.url()).hash, /^#\/transactions\?q=auth_/)
    await page.goBack()
    await drawer.getByRole('link', { name: 'All payments by this card' }).click()
    await shows(page, 'Only payments by one card.')
    await shows(page, 'All 4 shown.')
    await page.getByLabel('Status').selectOption('Declined')
    await shows(page, '1 shown.')
    t.match(new URL(page.url()).hash, `cardId=${id}`, 'other filters keep the card')
    await press(page, 'Clear filters')
    await shows(page, 'All 5 shown.')
    t.same(faults, NONE)
  },
)

t.test('settles a pay-in with play money, and exports the pay-ins', async t => {
  const wallet = testWallet()
  const program = await programOf(host, wallet)
  const asked = await program.write('/subscriptions/payin', { amountCents: 2500 })
  const { id } = asked.body.data['payin'] as { id: string }
  const { page, faults } = await open(wallet)
  await openTab(page, 'Pay-ins')
  await page.getByRole('table').getByRole('link').click()
  const drawer = drawerOf(page, 'Pay-in')
  await drawer.getByRole('button', { name: 'Settle with play money' }).click()
  await drawer.getByText('Simulated').waitFor()
  t.equal(await drawer.getByRole('button', { name: 'Settle with play money' }).count(), 0)
  t.equal(await page.getByRole('dialog').count(), 1, 'no drawer of before the signature is left')
  t.equal(await program.balance(), 2500)
  await page.keyboard.press('Escape')
  const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Export CSV')])
  t.equal(download.suggestedFilename(), 'payins.csv')
  await page.getByText('Exported 90 days up to today.').waitFor()
  const [, line] = readFileSync(await download.path(), 'utf8').split('\r\n')
  t.match(line, `"${id}",`)
  t.match(line, ',"settled",25.00,2500,"USD",')

  await page.route('**/payins.csv*', route =>
    route.fulfill({ status: 429, json: { error: 'x', message: 'y' } }),
  )
  await press(page, 'Export CSV')
  await page.getByText('Nothing was exported.').first().waitFor()
  t.same(faults.foreign, [])
})

t.test('says why a pay-in was not settled, in its drawer', async t => {
  const wallet = testWallet()
  const program = await programOf(host, wallet)
  await program.write('/subscriptions/payin', { amountCents: 2500 })
  const { page } = await open(wallet)
  await openTab(page, 'Pay-ins')
  await page.getByRole('table').getByRole('link').click()
  await page.route('**/settle', route =>
    route.fulfill({ status: 400, json: { error: 'invalid_request', message: 'this pay-in has expired' } }),
  )
  await press(page, 'Settle with play money')
  await drawerOf(page, 'Pay-in').getByText('this pay-in has expired').waitFor()
  t.equal(await program.balance(), 0)
  await page.unroute('**/settle')
  await page.route('**/settle', route => route.abort())
  await press(page, 'Settle with play money')
  await drawerOf(page, 'Pay-in').getByText('It is not known whether it was done.').waitFor()
})

t.test('opens what a notification is about, which marks it as read', async t => {
  const wallet = testWallet()
  const program = await programOf(host, wallet)
  await spendSome(host, program)
  const asked = await program.write('/subscriptions/payin', { amountCents: 2500 })
  const { id } = asked.body.data['payin'] as { id: string }
  await program.write(`/sandbox/payins/${id}/settle`, {})
  const { page, faults } = await open(wallet)
  await openTab(page, 'Notifications')
  const unread = page.getByText('Unread', { exact: true })
  await unread.first().waitFor()
  const before = await unread.count()
  await page.getByRole('link', { name: 'Pay-in settled' }).click()
  await drawerOf(page, 'Pay-in').getByText(id).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Pay-in settled' }).waitFor()
  t.equal(await unread.count(), before - 1)
  await page
    .getByRole('link', { name: 'New card' })
    .or(page.getByRole('link', { name: 'Card active' }))
    .first()
    .click()
  await drawerOf(page, 'Card').waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Card payment' }).first().click()
  await shows(page, '1 shown.')
  await page.goBack()
  const type = page.getByText(/^payin\.settled · evt_\w+ · payin_/)
  await page.getByRole('link', { name: 'Pay-in settled' }).waitFor()
  t.notOk(await type.isVisible())
  await page.getByLabel('Show types and ids').check()
  t.ok(await type.isVisible())
  await press(page, 'Mark all as read')
  await shows(page, 'All read.')
  t.equal(await unread.count(), 0)
  t.same(faults, NONE)
})
