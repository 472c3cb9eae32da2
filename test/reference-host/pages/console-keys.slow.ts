// The keys of an account in the console: the table, the form of a new key, and the programs that it shows for one.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import t from 'tap'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { chooseForKey, openTab, programOf } from '../harness/pages/console-page.ts'
import { heading, openHelper, press, shows, signInBy } from '../harness/pages/helper-page.ts'
import { bearer } from '../../harness/host.ts'

const host = await startPageHost({ RATE_LIMITS: 'off' })
t.teardown(() => host.close())
const browser = await startBrowser()
t.teardown(() => browser.close())
const NONE = { reports: [], foreign: [], errors: [] }
const run = promisify(execFile)

async function openKeys(wallet = testWallet()) {
  const opened = await openHelper(browser, `${host.url}/helper`, [wallet])
  await signInBy(opened.page, wallet)
  await openTab(opened.page, 'Keys')
  return opened
}

const cells = (page: Page, name: string): Promise<string> =>
  page.getByRole('row', { name }).first().innerText()

/** The text of the tab that is open. */
const panel = (page: Page, name: string): Promise<string> =>
  page.getByRole('tabpanel', { name }).locator('pre').innerText()

t.test('shows keys as a tree with rights in words and the tightest limit, and filters them', async t => {
  const wallet = testWallet()
  const program = await programOf(host, wallet, { dailySpendCapCents: 10_000 })
  const make = async (body: object): Promise<string> => {
    const made = await host.send('/user/v1/keys', { body, headers: bearer(program.token) })
    t.equal(made.status, 200)
    return made.body['userKeyId'] as string
  }
  await make({
    label: 'agent-shopping',
    scopes: ['payments.read', 'payments.write'],
    policy: { dailySpendCapCents: 700, allowedIps: ['10.0.0.0/8'] },
  })
  await make({ label: 'plain' })
  await make({ label: 'frozen', policy: { allowOperations: [] } })
  const ended = await make({ label: 'old', scopes: [] })
  await host.send(`/user/v1/keys/${ended}`, { method: 'DELETE', headers: bearer(program.token) })
  const { page, faults } = await openKeys(wallet)
  await page.getByText('0.00 of 7.00 USD').waitFor()
  t.match(
    await cells(page, 'agent-shopping'),
    /Payments\s+From 10\.0\.0\.0\/8\s+0\.00 of 7\.00 USD\s+Spending today\s+Never/,
  )
  t.match(await cells(page, 'frozen'), /Blocked[^]*Nothing/)
  t.match(await cells(page, program.keyId.slice(-6)), /Everything\s+0\.00 of 100\.00 USD/)
  const order = await page.locator('.key-cell a').allInnerTexts()
  t.same(
    order,
    [`…${program.keyId.slice(-6)}`, 'frozen', 'plain', 'agent-shopping'],
    'the root first, no console',
  )
  t.equal(await page.locator('.key-cell.below').count(), 3)

  await page.getByLabel('Find a key').fill('agent')
  t.same(await page.locator('.key-cell a').allInnerTexts(), ['agent-shopping'])
  t.match(page.url(), /#\/keys\?text=agent$/)
  await page.reload()
  await page.getByText('0.00 of 7.00 USD').waitFor()
  t.same(await page.locator('.key-cell a').allInnerTexts(), ['agent-shopping'], 'also after a reload')
  await page.getByLabel('Find a key').fill('')
  await page.getByLabel('State').selectOption('ended')
  t.same(await page.locator('.key-cell a').allInnerTexts(), ['old'])
  await page.getByLabel('State').selectOption('live')

  await chooseForKey(page, 'View', 'agent-shopping')
  const drawer = page.getByRole('dialog')
  await drawer.getByText('May pay up to 7.00 USD a day. May not withdraw').waitFor()
  await drawer.getByText('from a key above').waitFor()
  t.match(await drawer.innerText(), new RegExp(`Above it\\s+…${program.keyId.slice(-6)}`))
  await page.keyboard.press('Escape')
  await chooseForKey(page, 'View', 'plain')
  await drawer.getByText('May pay up to 100.00 USD a day').waitFor()
  await page.keyboard.press('Escape')
  await chooseForKey(page, 'Revoke', 'agent-shopping')
  t.equal(await page.getByLabel('Type').count(), 0, 'only a root asks for its name')
  await press(page, 'Cancel')
  await page.getByLabel('Actions of key frozen').click()
  await page.keyboard.press('Escape')
  t.equal(await page.getByRole('button', { name: 'View' }).count(), 0, 'Escape closes the menu')
  t.same(faults, NONE)
})

t.test('makes a key by a template with limits, an end and addresses, and says what it may do', async t => {
  const { page, faults } = await openKeys()
  await press(page, 'Create key')
  const sentence = page.locator('.key-sentence')
  t.match(await sentence.innerText(), /^May read everything, and changes nothing\./)
  await page.getByLabel('Name', { exact: true }).fill('agent-shopping')
  await page.getByLabel('Agent with an allowance').check()
  t.match(
    await sentence.innerText(),
    /^May pay up to 10\.00 USD at once and 50\.00 USD a day\. May not withdraw/,
  )
  await page.locator('.field', { hasText: 'Per month' }).getByRole('button', { name: '200' }).click()
  await page.getByLabel('Number of cards').fill('3')
  await page.getByLabel('Tell me at').fill('80')
  await page.getByLabel('Time zone').selectOption('Europe/Berlin')
  await page.getByLabel('Pays only').fill(`City Power\n0x${'AB'.repeat(20)}`)
  await press(page, 'Add a limit for one kind of operation')
  await page.getByRole('combobox', { name: 'Kind of operation' }).selectOption('bills')
  await page.getByRole('textbox', { name: 'At most', exact: true }).fill('2')
  await page.getByLabel('Unit').selectOption('times')
  await page.getByLabel('Time span').selectOption('a month')
  await page.getByLabel('On', { exact: true }).check()
  await page.getByLabel('Allowed addresses').fill('127.0.0.1 nowhere')
  await press(page, 'Create key')
  await page.getByText('Type a wallet, or a kind').waitFor()
  await page.getByLabel('Pays only').fill(`biller:City Power\n0x${'AB'.repeat(20)}`)
  await press(page, 'Create key')
  await page.getByText('Choose a day after today.').waitFor()
  await page.getByLabel('Day, UTC').fill('2099-01-01')
  await press(page, 'Create key')
  await page.getByText('Type an address or a block').waitFor()
  await page.getByLabel('Allowed addresses').fill('127.0.0.1 ::1')
  t.match(
    await sentence.innerText(),
    /200\.00 USD a month\. Tells you when 80 % of the limit of a day is used\. .*Pays only biller City Power or wallet 0x(?:ab){20}\. At most 3 new cards in total\. At most 2 bills a month\. Days begin at midnight in Europe\/Berlin\. Works only from 127\.0\.0\.1, ::1\. Ends 1 Jan 2099\./,
  )
  const json = JSON.parse(await panel(page, 'JSON')) as object
  await page.getByRole('tab', { name: 'JSON' }).focus()
  await page.keyboard.press('ArrowRight')
  const curl = await panel(page, 'curl')
  await press(page, 'Create key')
  await heading(page, 'Your new key agent-shopping')
  await page.getByLabel('I have stored it').check()
  await press(page, 'Back to your account')
  await shows(page, '0.00 of 50.00 USD')

  // The command that the form showed makes the same key, below a key that may make keys.
  const maker = await programOf(host, testWallet())
  const { stdout } = await run('bash', ['-c', curl], { env: { ...process.env, SESSION: maker.token } })
  const { data } = JSON.parse(stdout) as { data: { userKeyId: string } }
  const { body } = await host.send('/user/v1/keys', { headers: bearer(maker.token) })
  const { keys } = body.data as { keys: { id: string }[] }
  t.match(
    keys.find(({ id }) => id === data.userKeyId),
    json,
  )
  t.same(faults, NONE)
})

t.test('shows no request while a limit is mistyped, and always that which the form sends', async t => {
  const { page } = await openKeys()
  await press(page, 'Create key')
  await page.getByLabel('Agent with an allowance').check()
  const json = page.getByRole('tabpanel', { name: 'JSON' }).locator('pre')
  for (const [label, wrong, right] of [
    ['Per day', '50,00', '50'],
    ['Tell me at', '101', '80'],
    ['Pays only', 'everyone', 'country:DE'],
    ['Allowed addresses', '127.0.0', '127.0.0.1'],
  ] as const) {
    await page.getByLabel(label, { exact: true }).fill(wrong)
    t.equal(await json.textContent(), '', label)
    await page.getByText('A field is not complete, or is mistyped.').waitFor()
    await page.getByLabel(label, { exact: true }).fill(right)
    t.match(JSON.parse((await json.textContent()) ?? ''), { policy: { dailySpendCapCents: 5000 } })
  }
  await press(page, 'Add a limit for one kind of operation')
  await page.getByRole('textbox', { name: 'At most', exact: true }).fill('2')
  await page.getByLabel('Time span').selectOption('each')
  await page.getByRole('combobox', { name: 'Kind of operation' }).selectOption('new keys')
  t.match(JSON.parse((await json.textContent()) ?? ''), {
    policy: { limits: [{ operations: ['keys.create'], window: 'day', maxCount: 2 }] },
  })
})

t.test('names what a limit on each operation is about', async t => {
  const wallet = testWallet()
  const limits = [{ operations: ['withdrawals.create'], window: 'operation', maxCents: 300 }]
  const program = await programOf(host, wallet, { limits })
  const { page } = await openKeys(wallet)
  await page.getByText('Withdrawals at once').waitFor()
  t.match(await cells(page, program.keyId.slice(-6)), /3\.00 USD\s+Withdrawals at once/)
})

t.test('says that policies take from the rights of a key, also those of the keys above it', async t => {
  const wallet = testWallet()
  const less = await programOf(host, wallet, { denyOperations: ['withdrawals.*'] })
  const root = await programOf(host, wallet)
  const headers = bearer(root.token)
  await host.send('/user/v1/keys', { body: { label: 'below' }, headers })
  const frozen = { policy: { allowOperations: [] } }
  await host.send(`/user/v1/keys/${root.keyId}`, { method: 'PATCH', body: frozen, headers })
  const { page } = await openKeys(wallet)
  t.match(await cells(page, less.keyId.slice(-6)), /Everything\s+Except what a policy forbids/)
  t.match(await cells(page, 'below'), /Nothing/)
})

t.test('does not say that no key has a limit when the limits cannot be read', async () => {
  const wallet = testWallet()
  await programOf(host, wallet, { dailySpendCapCents: 700 })
  const { page } = await openKeys(wallet)
  await page.route('**/caps', route => route.fulfill({ status: 503, json: { error: 'x', message: 'y' } }))
  await openTab(page, 'Overview')
  await page.getByText('The limits of some keys cannot be shown.').waitFor()
})

t.test('chooses scopes one by one, and marks those that are more than they seem', async t => {
  const { page } = await openKeys()
  await press(page, 'Create key')
  await page.getByLabel('Custom').check()
  await press(page, 'Create key')
  await page.getByText('Choose at least one.').waitFor()
  await page.getByText('secrets read (shows card numbers)').waitFor()
  await press(page, 'All that only read')
  t.match(await page.locator('.key-sentence').innerText(), /^May read everything, and changes nothing/)
  await page.getByLabel('secrets read').check()
  t.match(await page.locator('.key-sentence').innerText(), /May see card numbers\./)
})

t.test('shows programs for a new key that run as they are, and hides the key in them at first', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-samples-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const { page, faults } = await openKeys()
  await press(page, 'Create key')
  await press(page, 'Create key')
  await heading(page, 'Your new key')
  const sample = async (name: string): Promise<string> => {
    await page.getByRole('tab', { name }).click()
    return panel(page, name)
  }
  for (const name of ['curl', 'TypeScript', 'Python'])
    t.notMatch(await sample(name), /gw_\w+_user_\w{16}_\w{36}/, name)
  await press(page, 'Show')
  const programs = [
    ['bash', 'first.sh', await sample('curl')],
    // Node 20 does not run TypeScript. The sample has no types.
    [process.execPath, 'first.mjs', await sample('TypeScript')],
    ['python3', 'first.py', await sample('Python')],
  ] as const
  for (const [command, name, text] of programs) {
    const path = join(folder, name)
    writeFileSync(path, text)
    const { stdout } = await run(command, [path])
    t.match(stdout, /balances/, `${name}: ${stdout}`)
    t.match(stdout, /availableCents/, name)
  }
  t.same(faults, NONE)
})

t.test('keeps what was typed when the host refuses it, and needs no second signature', async t => {
  const wallet = testWallet()
  const { page } = await openKeys(wallet)
  await press(page, 'Create key')
  await page.getByLabel('Name', { exact: true }).fill('by hand')
  await page.getByLabel('Allowed addresses').fill('999.0.0.1')
  const before = wallet.texts.length
  await press(page, 'Create key')
  await heading(page, 'The key was refused')
  await shows(page, 'must be an IP address or a CIDR block')
  await press(page, 'Change what the key may do')
  t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'by hand')
  await page.getByLabel('Allowed addresses').fill('127.0.0.1')
  await press(page, 'Create key')
  await heading(page, 'Your new key by hand')
  t.equal(wallet.texts.length, before + 1)
})

t.test('rotates a key from its drawer', async t => {
  const wallet = testWallet()
  await programOf(host, wallet)
  const { page, faults } = await openKeys(wallet)
  await chooseForKey(page, 'View')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await press(page, 'Sign and rotate')
  await heading(page, 'Your new key')
  t.equal(await page.locator('dialog[open]').count(), 0, 'the drawer is gone')
  t.same(faults, NONE)
})
