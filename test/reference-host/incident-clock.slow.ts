// How long a leaked key pays: each way of ending it, step by step, while a thief pays with its session, its text and its card. The table is in
// build/incident-clock.txt afterwards, and in docs/runbooks/leaked-key.md.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { openPage, startBrowser, startPageHost } from '../harness/browser/browser.ts'
import { bearer, newWallet, request, spawnHost, type TestHost } from '../harness/host.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { PROGRAMS } from '../harness/programs.ts'
import { cardUser } from './harness/card-payments.ts'
import { OPERATOR_TOKEN, startOperatedHost } from './harness/operator.ts'
import { testWallet, type TestWallet } from './harness/pages/browser-wallets.ts'
import { chooseForKey, openTab, programOf } from './harness/pages/console-page.ts'
import { openHelper, press, signInBy } from './harness/pages/helper-page.ts'
import { webToken } from './harness/web-sign-in.ts'

const run = promisify(execFile)
const lines: string[] = []

/** The ways in which a thief pays with a leaked key. Each resolves to whether a payment was made. */
type Thief = Readonly<Record<'session' | 'key' | 'card', () => Promise<boolean>>>

/** Makes an account with a leaked key, of which a thief has the text, a session and a card, and pays with each of them. */
async function leak(t: Test, send: TestHost['send'], wallet: TestWallet) {
  const root = await programOf({ send }, wallet)
  await root.fund(100_000)
  const payee = newWallet()
  await webToken(send, payee)
  const made = await send('/user/v1/keys', { body: { label: 'leaked' }, headers: bearer(root.token) })
  const key = made.body['userApiKey'] as string
  const mint = () => send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
  const stolen = cardUser(send, (await mint()).body['sessionToken'] as string)
  const cardId = await stolen.card()
  const to = { walletAddress: payee.address }
  const owner = cardUser(send, root.token)
  const thief: Thief = {
    session: async () => (await stolen.write('/payments', { to, amountCents: 1 })).status === 200,
    async key() {
      const { status, body } = await mint()
      if (status !== 200) return false
      const user = cardUser(send, body['sessionToken'] as string)
      return (await user.write('/payments', { to, amountCents: 1 })).status === 200
    },
    card: async () => (await owner.pay(cardId, { amountCents: 1 })).status === 'authorized',
  }
  for (const [way, pay] of Object.entries(thief)) t.equal(await pay(), true, `${way} pays before`)
  return { key, thief }
}

/** A step of an incident: what the person does, and the test in their place. */
type Step = readonly [words: string, act: () => Promise<unknown>]

/**
 * Does the steps. From the start of the last one, which confirms, the thief pays as fast as the host lets it, until it is refused each way.
 * The figures are of this machine: what a person reads, decides and types comes on top.
 */
async function clock(t: Test, who: string, thief: Thief, steps: readonly Step[]): Promise<void> {
  const start = performance.now()
  for (const [, act] of steps.slice(0, -1)) await act()
  const confirmed = performance.now()
  const seconds = (from: number): string => ((performance.now() - from) / 1000).toFixed(1)
  const before = seconds(start)
  const refused = Object.entries(thief).map(async ([way, pay]) => {
    while (await pay());
    return `${way} ${seconds(confirmed)}`
  })
  const [, confirm] = steps.at(-1) as Step
  await confirm()
  const after = await Promise.all(refused)
  for (const [way, pay] of Object.entries(thief)) t.equal(await pay(), false, `${way} stays refused`)
  const words = steps.map(([each]) => each).join(', ')
  lines.push(`| ${who} | ${words} | ${before} | ${after.join(', ')} |`)
}

t.test('an owner ends a leaked key in the console, and nothing of it pays', async t => {
  const host = await startPageHost({ RATE_LIMITS: 'off' })
  const browser = await startBrowser()
  t.teardown(async () => {
    await browser.close()
    await host.close()
  })
  const wallet = testWallet()
  const { key, thief } = await leak(t, host.send, wallet)
  const { page } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await clock(t, 'Owner, console', thief, [
    ['sign in', () => signInBy(page, wallet)],
    ['Keys', () => openTab(page, 'Keys')],
    [
      'paste the text',
      async () => {
        await page.getByLabel('Find a key').fill(key)
        await page.getByRole('link', { name: 'leaked' }).waitFor()
      },
    ],
    [
      'Revoke',
      async () => {
        await chooseForKey(page, 'Revoke', 'leaked')
        await page.getByRole('dialog').getByText('Lock the cards').waitFor()
      },
    ],
    ['confirm', () => press(page, 'Revoke key')],
  ])
})

t.test('an operator ends a leaked key on the operator page, and nothing of it pays', async t => {
  const host = await startOperatedHost({ RATE_LIMITS: 'off' })
  const browser = await startBrowser()
  t.teardown(async () => {
    await browser.close()
    await host.close()
  })
  const { key, thief } = await leak(t, host.send, testWallet())
  const { page } = await openPage(browser, host.operatorUrl)
  const box = page.getByLabel('Find a key, an account, a request, a card or a transaction')
  const row = page.locator('#found').getByRole('row').filter({ hasText: 'leaked' }).first()
  const dialog = page.getByRole('dialog')
  await clock(t, 'Operator, page', thief, [
    [
      'unlock',
      async () => {
        await page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
        await page.keyboard.press('Enter')
        await box.waitFor()
      },
    ],
    [
      'paste the text',
      async () => {
        await box.focus()
        await page.keyboard.insertText(key)
        await page.keyboard.press('Enter')
        await row.waitFor()
      },
    ],
    ['Revoke', () => row.getByRole('button', { name: 'Revoke' }).click()],
    [
      'who and why',
      async () => {
        await dialog.getByLabel('Who does it').fill('Ana')
        await dialog.getByLabel('Why').fill('its text is in a public place')
      },
    ],
    ['confirm', () => dialog.getByRole('button', { name: 'Revoke key' }).click()],
  ])
})

/** Ends a leaked key by the command of the runbook, beside a host process. */
async function byCommand(t: Test, stores: string, env: Readonly<Record<string, string>>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-incident-'))
  const all = { DATA_DIR: folder, RATE_LIMITS: 'off', ONBOARDING_GATES: 'partner', ...env }
  const host = await spawnHost(folder, all)
  t.teardown(async () => {
    await host.stop('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })
  const send: TestHost['send'] = (path, options) => request(host.url, path, options)
  const { key, thief } = await leak(t, send, testWallet())
  const script = `printf %s "$LEAKED_KEY" | '${process.execPath}' ${PROGRAMS.command} keys revoke - --cards lock --yes`
  const plain = { PATH: process.env['PATH'], LEAKED_KEY: key, ...all }
  await clock(t, `Operator, command, ${stores}`, thief, [
    ['the command', () => run('sh', ['-ec', script], { env: plain })],
  ])
}

t.test('an operator ends a leaked key by one command beside an embedded host', t =>
  byCommand(t, 'embedded host', {}),
)

t.test('an operator ends a leaked key by one command beside a host on Postgres', async t => {
  const { env, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  await byCommand(t, 'Postgres', env)
})

t.teardown(() => {
  mkdirSync('build', { recursive: true })
  writeFileSync('build/incident-clock.txt', `${lines.join('\n')}\n`)
  for (const line of lines) t.comment(`measured ${line}`)
})
