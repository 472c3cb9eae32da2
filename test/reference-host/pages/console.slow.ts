import t from 'tap'
import { REJECTED, testWallet, type TestWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost, type OpenPage } from '../../harness/browser/browser.ts'
import { cardUser } from '../harness/card-payments.ts'
import { chooseForKey, loaded, openTab, programOf, spendSome, ends } from '../harness/pages/console-page.ts'
import { heading, openHelper, press, shows, signInBy } from '../harness/pages/helper-page.ts'
import { bearer } from '../../harness/host.ts'

const host = await startPageHost({ RATE_LIMITS: 'off' })
t.teardown(() => host.close())
const browser = await startBrowser()
t.teardown(() => browser.close())
const NONE = { reports: [], foreign: [], errors: [] }

/** Opens the console of a wallet, and returns the token that the page got for it. */
async function open(wallet: TestWallet): Promise<OpenPage & { token: string }> {
  const opened = await openHelper(browser, `${host.url}/helper`, [wallet])
  const responded = opened.page.waitForResponse(`${host.url}/auth/console`)
  await signInBy(opened.page, wallet)
  const { data } = (await (await responded).json()) as { data: { sessionToken: string } }
  return { ...opened, token: data.sessionToken }
}

t.test('a console is made by one signature, used, and ended by signing out', async t => {
  const wallet = testWallet()
  await spendSome(host, await programOf(host, wallet, { dailySpendCapCents: 10_000 }))
  const texts = wallet.texts.length
  const opened = await open(wallet)
  const { page, token, faults, kept, addresses } = opened
  t.equal(wallet.texts.length, texts + 1, 'one signature')
  await shows(page, '953.40 USD')
  for (const tab of ['Keys', 'Sessions', 'Cards', 'Transactions', 'Notifications', 'Overview']) {
    await openTab(page, tab)
    await loaded(page)
    t.equal(await page.locator('.note.bad').count(), 0, tab)
  }
  t.equal((await host.send('/user/v1/users', { headers: bearer(token) })).status, 200)
  t.notOk((await page.content()).includes(token), 'the token is not in the document')
  const writes = ['/deposits', '/payments', '/withdrawals', '/cards', '/subscriptions/checkout', '/bills']
  for (const path of writes) {
    const headers = { ...bearer(token), 'idempotency-key': 'with-a-console' }
    const denied = await host.send(`/user/v1${path}`, { body: { amountCents: 1 }, headers })
    const error = path === '/cards' ? 'policy_blocked' : 'insufficient_scope'
    t.match(denied, { status: 403, body: { error } }, path)
  }
  await page.route('**/sessions/current', route => route.fulfill({ status: 503, body: '{}' }))
  await press(page, 'Sign out')
  await heading(page, 'You are not signed out')
  t.equal((await host.send('/user/v1/users', { headers: bearer(token) })).status, 200, 'it says the truth')
  await page.unroute('**/sessions/current')
  await press(page, 'Try again')
  await heading(page, 'You are signed out')
  t.ok(await ends(host, token))
  t.same(faults, NONE)
  t.same(await kept(), [], 'nothing of the session stays in the browser')
  t.notMatch(addresses.join(' '), /eyJ|gw_/, 'no secret was in an address')
})

t.test('shows what of each cap is used and free, the tightest first', async t => {
  const wallet = testWallet()
  const monthly = { operations: ['bills.*'], window: 'month', maxCents: 700 }
  await spendSome(host, await programOf(host, wallet, { dailySpendCapCents: 10_000, limits: [monthly] }))
  const { page, faults } = await open(wallet)
  const caps = page.locator('.closest .cap')
  await caps.first().waitFor()
  const [first, second] = [await caps.nth(0).innerText(), await caps.nth(1).innerText()]
  t.match(first, /Bills this month\s+of .*4\.20 used.* 2\.80 free of 7\.00 USD\.\s+Resets/s)
  t.match(second, /Spending today\s+.*53\.40 free of 100\.00 USD\.\s+Resets .* at \d{4}-\d\d-\d\d 00:00 UTC/s)
  const drawn = await caps
    .nth(0)
    .locator('.bar-used')
    .evaluate(bar => bar.getBoundingClientRect().width)
  t.ok(drawn > 0, 'as a bar')
  await page.getByText('Cards 22.40', { exact: true }).waitFor()
  await page.getByText('Show the numbers as a table').click()
  t.match(await page.locator('.table-scroll tbody tr').first().innerText(), /22\.40/)
  t.same(faults, NONE)
})

t.test('says from which key a cap comes, also after that key was rotated', async t => {
  const wallet = testWallet()
  const above = await programOf(host, wallet, { dailySpendCapCents: 10_000 })
  const made = async (path: string, body: object, headers: Record<string, string>): Promise<string> => {
    const response = await host.send(path, { body, headers })
    t.equal(response.status, 200, path)
    return (response.body['userKeyId'] as string).slice(-6)
  }
  const below = await made('/user/v1/keys', { policy: { maxAuthAmountCents: 700 } }, bearer(above.token))
  const rotating = `/user/v1/keys/${above.keyId}/rotate`
  const successor = await made(rotating, { overlapSeconds: 3600 }, { 'x-user-key': above.key })
  const { page } = await open(wallet)
  await page.getByText('All limits').click()
  const inherited = page.locator('.cap', { hasText: 'from key ' })
  await inherited.waitFor()
  t.match(await inherited.textContent(), new RegExp(`^Spending today.*from key .*${successor}`))
  const holder = page.locator('.key-caps', { has: inherited }).getByRole('heading')
  t.match(await holder.textContent(), below)
})

t.test('shows what was spent until now whenever the overview is opened', async t => {
  const wallet = testWallet()
  const program = await programOf(host, wallet)
  await spendSome(host, program)
  const { page } = await open(wallet)
  await page.getByText('Total 46.60 USD', { exact: true }).waitFor()
  await openTab(page, 'Keys')
  await spendSome(host, program)
  await openTab(page, 'Overview')
  await page.getByText('Total 93.20 USD', { exact: true }).waitFor()
  await spendSome(host, program)
  await page
    .locator('section', { hasText: 'Spent in 30 days' })
    .getByRole('button', { name: 'Refresh' })
    .click()
  await page.getByText('Total 139.80 USD', { exact: true }).waitFor()
  t.equal(await page.getByRole('slider').count(), 1)
})

t.test('creates a key with a fresh signature, which works, and rotates, narrows and revokes it', async t => {
  const wallet = testWallet()
  const opened = await open(wallet)
  const { page, faults } = opened
  await openTab(page, 'Keys')
  await shows(page, 'You have no keys.')
  await press(page, 'Create key')
  await page.getByLabel('Name', { exact: true }).fill('agent-shopping')
  await page.getByLabel('Server').check()
  await page.getByLabel('Per day', { exact: true }).fill('75')
  const before = wallet.texts.length
  await press(page, 'Create key')
  const key = await keyShown(opened)
  t.equal(wallet.texts.length, before + 1, 'one more signature')
  const minted = await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
  t.equal(minted.status, 200)
  await heading(page, 'Keys')
  await shows(page, '0.00 of 75.00 USD')
  await chooseForKey(page, 'Rename', 'agent-shopping')
  await page.getByLabel('Name', { exact: true }).fill('agent-travel')
  await page.locator('dialog').getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('link', { name: 'agent-travel' }).waitFor()

  const refused = await host.send('/user/v1/subscriptions/payin', {
    body: { amountCents: 9000 },
    headers: { ...bearer(minted.body['sessionToken'] as string), 'idempotency-key': 'too-much-for-a-day' },
  })
  t.equal(refused.status, 403)
  await openTab(page, 'Requests')
  await shows(page, refused.body['message'] as string)
  await page.getByLabel('Result').selectOption('allowed')
  await page.getByText(refused.body['message'] as string).waitFor({ state: 'detached' })
  await page.getByLabel('Search').fill(refused.headers.get('x-request-id') as string)
  await page.keyboard.press('Enter')
  await page.locator('dialog').getByText('It would be refused now').waitFor()
  await press(page, 'Close')
  await openTab(page, 'Keys')
  await page.getByRole('link', { name: 'agent-travel' }).click()
  await page.locator('dialog').getByText('Latest requests').waitFor()
  await page
    .locator('dialog')
    .getByText(refused.body['message'] as string)
    .waitFor()
  await press(page, 'Close')

  await chooseForKey(page, 'Tighten limits', 'agent-travel')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('75.00 USD now, from this key.').waitFor()
  await page.getByLabel('Per day', { exact: true }).fill('80')
  await page.getByLabel('Per payment').fill('much')
  await press(page, 'Tighten limits')
  await page.getByText('Type dollars').waitFor()
  t.match(await dialog.innerText(), /Not lower than what binds now, so it changes nothing/)
  await page.getByLabel('Per day', { exact: true }).fill('50')
  await page.getByLabel('Per payment').fill('5')
  await press(page, 'Tighten limits')
  await shows(page, '0.00 of 50.00 USD')

  await chooseForKey(page, 'Rotate', 'agent-travel')
  await press(page, 'Sign and rotate')
  const successor = await keyShown(opened)
  t.not(successor, key)
  t.match(await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } }), { status: 401 })
  t.match(await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': successor } }), {
    status: 200,
  })

  await chooseForKey(page, 'Revoke', 'agent-travel')
  await press(page, 'Cancel')
  await chooseForKey(page, 'Revoke', 'agent-travel')
  t.match(
    await dialog.innerText(),
    /1 live session\s+0 keys below it\s+0 open pay-ins\s+(?:Last|Never) used.*\s+Lock the cards that these keys made or showed \(0 cards made\)/,
  )
  await press(page, 'Revoke key')
  await dialog.getByText('This is not its name.').waitFor()
  await page.getByLabel('Type agent-travel to revoke it').fill('agent-travel')
  await press(page, 'Revoke key')
  await shows(page, 'No active keys.')
  await page.getByLabel('State').selectOption('ended')
  t.equal(await page.getByRole('link', { name: 'agent-travel' }).count(), 2)
  t.match(await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': successor } }), {
    status: 401,
  })
  t.same(faults, NONE)
})

t.test('revoking a key locks the cards that it made, which the dialog names', async t => {
  const wallet = testWallet()
  const { page, token, faults } = await open(wallet)
  const program = await programOf(host, wallet)
  const made = await host.send('/user/v1/keys', { body: { label: 'leaky' }, headers: bearer(program.token) })
  const headers = { 'x-user-key': made.body['userApiKey'] as string }
  const session = await host.send('/user/v1/sessions', { body: {}, headers })
  const card = await cardUser(host.send, session.body['sessionToken'] as string).card()
  await openTab(page, 'Keys')
  const text = made.body['userApiKey'] as string
  await page.getByLabel('Find a key').fill(text)
  t.equal(await page.getByLabel('Find a key').inputValue(), made.body['userKeyId'], 'the secret is forgotten')
  t.notOk(page.url().includes(text.split('_')[4] as string), 'and not in the address')
  t.equal(await page.getByRole('row').count(), 2, 'the heading, and the key')
  await chooseForKey(page, 'Revoke', 'leaky')
  const dialog = page.getByRole('dialog')
  t.match(
    await dialog.innerText(),
    /Lock the cards that these keys made or showed \(1 card made: •••• \d{4}\)/,
  )
  t.equal(await page.getByLabel(/Lock the cards/).isChecked(), true)
  await press(page, 'Revoke key')
  await page.getByText('The key is revoked. 1 card locked.').waitFor()
  const read = await host.send(`/user/v1/cards/${card}`, { headers: bearer(token) })
  t.match(read.body.data, { card: { status: 'locked', lockReason: 'key_revoked' } })
  await openTab(page, 'Cards')
  await page.getByRole('link', { name: /\d{4}/ }).first().click()
  await page
    .getByText('It is locked because a key that made it, or showed its number, was revoked.')
    .waitFor()
  t.same(faults, NONE)
})

/** Reads the new key that is shown once, and goes on. */
async function keyShown({ page }: OpenPage): Promise<string> {
  await heading(page, 'Your new key')
  await press(page, 'Show')
  const [key = ''] = /gw_\w+_user_\w{16}_\w{36}/.exec(await page.getByRole('main').innerText()) ?? []
  await page.getByLabel('I have stored it').check()
  await press(page, 'Back to your account')
  return key
}

t.test('goes back to the account when the wallet refuses the signature for a key', async t => {
  const wallet = testWallet()
  const { page, faults } = await open(wallet)
  wallet.errorFor = method => (method === 'personal_sign' ? REJECTED : undefined)
  await openTab(page, 'Keys')
  await press(page, 'Create key')
  await press(page, 'Create key')
  await heading(page, 'You did not sign')
  await press(page, 'Back to your account')
  await shows(page, 'You have no keys.')
  t.same(faults, NONE)
})

t.test('ends sessions, marks notifications, and does the steps that are its own', async t => {
  const wallet = testWallet()
  const program = await programOf(host, wallet)
  await spendSome(host, program)
  const opened = await open(wallet)
  const { page, faults } = opened
  await page.getByText('2 steps left: identity, agreements').click()
  await press(page, 'Read and accept')
  await press(page, 'Accept agreements')
  await page.locator('.row', { hasText: 'Accept the agreements' }).getByText('Done').waitFor()
  await press(page, 'Hide')
  await page.locator('.setup').waitFor({ state: 'detached' })
  await page.reload()
  await page.getByText('Spent in 30 days').waitFor()
  await page.locator('.setup').waitFor({ state: 'detached' })
  await openTab(page, 'Sessions')
  await press(page, 'End')
  await press(page, 'End session')
  await shows(page, 'Only this page is signed in')
  t.ok(await ends(host, program.token))
  await openTab(page, 'Notifications')
  await page
    .getByText(`By key …${program.keyId.slice(-6)}`)
    .first()
    .waitFor()
  await press(page, 'Mark all as read')
  await shows(page, 'All read.')
  await openTab(page, 'Cards')
  await shows(page, '477.60 left of 500.00 USD in 30 days')
  t.match(await page.getByRole('main').innerText(), /Ends in\s+\d{4}\s+Active/)
  t.same(faults, NONE)
})

t.test('does the steps of the set-up in a sandbox, and then shows them no more', async t => {
  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [])
  await press(page, 'Continue with a test wallet')
  await heading(page, 'Overview')
  await press(page, 'Approve my identity (sandbox)')
  const step = (name: string) => page.locator('.setup .row', { hasText: name })
  await step('Have your identity checked').getByText('Done').waitFor()
  await press(page, 'Read and accept')
  await press(page, 'Accept agreements')
  await step('Accept the agreements').getByText('Done').waitFor()
  await press(page, 'Add 100 USD play money')
  await shows(page, '100.00 USD')
  await page.getByText('1 step left: a card').click()
  await press(page, 'Create a test card')
  await page.locator('.setup').waitFor({ state: 'detached' })
  await openTab(page, 'Cards')
  await shows(page, '50.00 left of 50.00 USD in 30 days')
  await openTab(page, 'Keys')
  await shows(page, 'No active keys.')
  t.equal(await page.getByLabel('State').locator('option', { hasText: 'Ended (2)' }).count(), 1)
  t.same(faults, NONE)
})

t.test('asks for one signature when the session has ended, and goes on where one was', async t => {
  const wallet = testWallet()
  const { page, token, faults } = await open(wallet)
  await openTab(page, 'Notifications')
  // Otherwise a request of the page itself may be the first that finds the session ended, and its answer has no button to press.
  await loaded(page)
  await host.send('/user/v1/sessions/current', { method: 'DELETE', headers: bearer(token) })
  t.ok(await ends(host, token))
  await press(page, 'Refresh')
  await heading(page, 'Your session has ended')
  await press(page, 'Sign and continue')
  await heading(page, 'Notifications')
  t.same(faults, NONE)
})

t.test('keeps a key on the screen that is shown once, though the session has ended meanwhile', async t => {
  const wallet = testWallet()
  const opened = await openHelper(browser, `${host.url}/helper`, [wallet])
  const { page } = opened
  await page.clock.install()
  await signInBy(page, wallet)
  await openTab(page, 'Keys')
  await press(page, 'Create key')
  await press(page, 'Create key')
  await heading(page, 'Your new key')
  await page.clock.fastForward(3_600_000)
  t.match(await keyShown(opened), /^gw_sandbox_user_/)
  await heading(page, 'Your session has ended')
})

t.test('says what failed, with the request id, and tries again', async t => {
  const wallet = testWallet()
  const { page } = await open(wallet)
  await page.route('**/user/v1/keys*', route =>
    route.fulfill({
      status: 503,
      contentType: 'application/json',
      headers: { 'x-request-id': 'req-of-test' },
      body: JSON.stringify({ error: 'service_unavailable', message: 'a store is down' }),
    }),
  )
  await openTab(page, 'Keys')
  await shows(page, 'Your keys cannot be shown. Nothing was changed.')
  await shows(page, 'req-of-test')
  await page.unroute('**/user/v1/keys*')
  await press(page, 'Try again')
  await shows(page, 'You have no keys.')
  t.equal(await page.locator('.note.bad').count(), 0)
})

t.test(
  'goes through pages and a drawer by Back and Forward, and survives a reload without a signature',
  async t => {
    const wallet = testWallet()
    await spendSome(host, await programOf(host, wallet))
    const { page, faults } = await open(wallet)
    const texts = wallet.texts.length
    t.match(page.url(), /\/helper#\/overview$/)
    await openTab(page, 'Cards')
    await page.getByRole('link', { name: /^•••• \d{4}|Ends in/ }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('Card id').waitFor()
    t.match(page.url(), /#\/cards\/card_[\w-]+$/)
    await page.reload()
    await drawer.getByText('Card id').waitFor()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    t.match(page.url(), /#\/cards$/)
    await openTab(page, 'Keys')
    await page.goBack()
    await heading(page, 'Cards')
    await page.goBack()
    await page.goBack()
    await heading(page, 'Overview')
    await page.goForward()
    await heading(page, 'Cards')
    t.equal(wallet.texts.length, texts, 'no more signatures')
    await openTab(page, 'Keys')
    await press(page, 'Create key')
    await press(page, 'Create key')
    await heading(page, 'Your new key')
    t.equal(wallet.texts.length, texts + 1, 'the wallet is found again after the reload')
    await page.goBack()
    t.match(
      await page.getByRole('heading', { level: 1 }).innerText(),
      /^Your new key Read only \d/,
      'and Back leaves it',
    )
    t.same(faults, NONE)
  },
)

t.test('a replayed web token opens no second console', async t => {
  const wallet = testWallet()
  const opened = await openHelper(browser, `${host.url}/helper`, [wallet])
  const asked = opened.page.waitForRequest(`${host.url}/auth/console`)
  await signInBy(opened.page, wallet)
  const { authorization = '' } = (await asked).headers()
  const again = await host.send('/auth/console', { method: 'POST', headers: { authorization } })
  t.match(again, { status: 401 })
})
