import t from 'tap'
import { REJECTED, switchAccount, testWallet, type TestWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost, type OpenPage } from '../../harness/browser/browser.ts'
import { openTab } from '../harness/pages/console-page.ts'
import { heading, openHelper, pick, press, shows, signInBy } from '../harness/pages/helper-page.ts'
import { bearer, newWallet } from '../../harness/host.ts'

const host = await startPageHost()
t.teardown(() => host.close())
const browser = await startBrowser()
t.teardown(() => browser.close())

const open = (...wallets: TestWallet[]): Promise<OpenPage> =>
  openHelper(browser, `${host.url}/helper`, wallets)

t.test('signs in with the second of two wallets, and makes a key that starts a session', async t => {
  const [first, second] = [
    testWallet('First', { icon: 'https://example.com/icon.png' }),
    testWallet('Second'),
  ]
  const { page, faults, kept, addresses } = await open(first, second)
  t.equal(await page.getByRole('list', { name: 'Wallets' }).getByRole('button').count(), 2)
  t.equal(await page.locator('.wallets img').count(), 1, 'and no icon from another host')
  const [login] = await Promise.all([page.waitForRequest(`${host.url}/auth/login`), signInBy(page, second)])
  t.same(first.texts, [])
  t.match(second.texts, [
    /^127\.0\.0\.1:\d+ wants you to sign in .*\n0x[^]*can make an API key for your account, and a key can move money\./,
  ])
  t.match(second.texts[0], second.account.address)

  await openTab(page, 'Keys')
  await press(page, 'Create key')
  await page.getByLabel('Server').check()
  await page.getByLabel('Per payment').fill('12.50')
  await press(page, 'Create key')
  await heading(page, 'Your new key')
  t.notMatch(await page.getByRole('main').innerText(), /gw_\w+_user_\w{16}_\w{36}/, 'hidden at first')
  await press(page, 'Show')
  const [key = ''] = /gw_\w+_user_\w{16}_\w{36}/.exec(await page.getByRole('main').innerText()) ?? []
  await press(page, 'Back to your account')
  await shows(page, 'Store the key first')
  await page.getByLabel('I have stored it').check()
  await press(page, 'Back to your account')
  await heading(page, 'Keys')
  t.notMatch(await page.content(), key, 'shown once')

  const session = await host.send('/user/v1/sessions', { headers: { 'x-user-key': key }, body: {} })
  const { body } = await host.send('/user/v1/identity', {
    headers: bearer(session.body['sessionToken'] as string),
  })
  t.match(body['identity'], {
    walletAddress: second.account.address.toLowerCase(),
    policies: [{ policy: { maxAuthAmountCents: 1250 } }],
  })
  // Whoever saw the login cannot repeat it.
  t.match(await host.send('/auth/login', { body: login.postDataJSON() as object }), {
    status: 401,
    body: { error: 'invalid_signature' },
  })
  t.same(faults, { reports: [], foreign: [], errors: [] })
  t.same(await kept(), ['sessionStorage gatewright.console'], 'the session of the console only')
  const places = ['', '#/overview', '#/keys'].map(place => `${host.url}/helper${place}`)
  t.same(new Set(addresses), new Set(places))
})

t.test('goes on after the wallet refused to connect, and to sign', async t => {
  const wallet = testWallet()
  const refused = new Set(['eth_requestAccounts', 'personal_sign'])
  wallet.errorFor = method => (refused.delete(method) ? REJECTED : undefined)
  const { page, faults } = await open(wallet)
  await pick(page, wallet.name)
  await heading(page, 'Your wallet did not connect')
  await press(page, 'Try again')
  await press(page, 'Sign in')
  await heading(page, 'You did not sign')
  t.match(await page.getByRole('main').innerText(), /refused to sign\. Nothing happened\./)
  await press(page, 'Try again')
  await heading(page, 'Overview')
  t.same(faults, { reports: [], foreign: [], errors: [] })
})

t.test('starts over when the wallet turns to another account, announced or not', async t => {
  const wallet = testWallet()
  const { page } = await open(wallet)
  await pick(page, wallet.name)
  await heading(page, 'Sign in with this account')
  await switchAccount(page, wallet)
  await heading(page, 'The account has changed')
  await press(page, 'Start over')
  await heading(page, 'Sign in with this account')
  wallet.account = newWallet()
  await press(page, 'Sign in')
  await heading(page, 'The account has changed')
  t.same(wallet.texts, [], 'and nothing was signed')
  await press(page, 'Start over')
  await press(page, 'Sign in')
  await heading(page, 'Overview')
})

t.test('does not sign in with a signature that comes after the person has left', async t => {
  const wallet = testWallet()
  let allow = (): void => {}
  const { page } = await open(wallet)
  wallet.errorFor = method =>
    method === 'personal_sign' ? new Promise(resolve => (allow = () => resolve(undefined))) : undefined
  await pick(page, wallet.name)
  await press(page, 'Sign in')
  await heading(page, `Open ${wallet.name} and sign`)
  await press(page, 'Cancel')
  await heading(page, 'Sign in with this account')
  let logins = 0
  page.on('request', request => (logins += Number(request.url().endsWith('/auth/login'))))
  allow()
  await page.waitForTimeout(200)
  t.equal(logins, 0)
})

t.test('asks no wallet to sign once another was chosen, however late the host responds', async t => {
  const [first, second] = [testWallet('First'), testWallet('Second')]
  const { page } = await open(first, second)
  await pick(page, 'First')
  await heading(page, 'Sign in with this account')
  let response = (): void => {}
  const held = new Promise<void>(resolve => (response = resolve))
  await page.route('**/auth/challenge', async route => {
    await held
    await route.continue()
  })
  await press(page, 'Sign in')
  await press(page, 'Choose another wallet')
  await pick(page, 'Second')
  await heading(page, 'Sign in with this account')
  const responded = page.waitForResponse('**/auth/challenge')
  response()
  await (await responded).finished()
  await page.unrouteAll({ behavior: 'wait' })
  // What a late response would change is changed before a later one arrives.
  await press(page, 'Sign in')
  await heading(page, 'Overview')
  t.same([first.texts.length, second.texts.length], [0, 1])
})

t.test('asks window.ethereum only when no wallet announced itself', async t => {
  const alone = await open(testWallet('Old', { where: 'window' }))
  await pick(alone.page, 'Browser wallet')
  await heading(alone.page, 'Sign in with this account')
  const both = await open(testWallet('New', { where: 'both' }))
  await both.page.getByRole('button', { name: 'New' }).waitFor()
  await both.page.waitForTimeout(400)
  t.equal(await both.page.getByRole('button', { name: 'Browser wallet' }).count(), 0)
})

t.test('says so when there is no wallet, looks again, and goes on with a test wallet', async t => {
  const { page, faults, kept } = await open()
  await shows(page, 'No wallet was found in this browser')
  await press(page, 'Look again')
  await shows(page, 'No wallet was found in this browser')
  await press(page, 'Continue with a test wallet')
  await heading(page, 'Overview')
  const badge = page.getByRole('navigation').getByText('Test wallet', { exact: true })
  t.ok(await badge.isVisible(), 'it is marked')
  t.same(await kept(), ['sessionStorage gatewright.test-wallet', 'sessionStorage gatewright.console'])
  await openTab(page, 'Settings')
  const address = await page.locator('.console-page .short .unseen').first().textContent()
  await page.reload()
  await openTab(page, 'Keys')
  await press(page, 'Create key')
  await page.getByLabel('Server').check()
  await press(page, 'Create key')
  await heading(page, 'Your new key')
  await press(page, 'Show')
  const [key = ''] = /gw_\w+_user_\w{16}_\w{36}/.exec(await page.getByRole('main').innerText()) ?? []
  const { body } = await host.send('/user/v1/sessions', { headers: { 'x-user-key': key }, body: {} })
  const identity = await host.send('/user/v1/identity', {
    headers: bearer(body['sessionToken'] as string),
  })
  t.match(identity.body['identity'], { walletAddress: address?.toLowerCase() }, 'of the same account')
  t.same(faults, { reports: [], foreign: [], errors: [] })
})

t.test('a live host offers no test wallet', async t => {
  const { page } = await openHelper(browser, `${host.url}/helper`, [], {
    async prepare(context) {
      await context.route('**/helper', async route => {
        const response = await route.fetch()
        const body = (await response.text()).replace('"environment":"sandbox"', '"environment":"live"')
        await route.fulfill({ response, body })
      })
    },
  })
  await shows(page, 'No wallet was found in this browser')
  t.equal(await page.getByRole('button', { name: 'Continue with a test wallet' }).count(), 0)
})

t.test('asks for one more signature when the sign-in was used up, and keeps what was typed', async t => {
  const wallet = testWallet()
  const { page } = await open(wallet)
  await signInBy(page, wallet)
  await page.route(
    '**/auth/login',
    async route => {
      const response = await route.fetch()
      const { token } = (await response.json()) as { token: string }
      await host.send('/identity/user-api-keys', { headers: bearer(token), body: {} })
      await route.fulfill({ response })
    },
    { times: 1 },
  )
  await openTab(page, 'Keys')
  await press(page, 'Create key')
  await page.getByLabel('Server').check()
  await page.getByLabel('Per day', { exact: true }).fill('70')
  await press(page, 'Create key')
  await heading(page, 'Your sign-in has ended')
  await press(page, 'Sign in and go on')
  t.equal(await page.getByLabel('Per day', { exact: true }).inputValue(), '70')
  await press(page, 'Create key')
  await heading(page, 'Your new key')
  const asked = page.waitForEvent('dialog')
  await page.close({ runBeforeUnload: true })
  const dialog = await asked
  t.equal(dialog.type(), 'beforeunload', 'leaving an unstored key asks first')
  await dialog.accept()
})
