// Every state of the operator page, the API reference, the errors page and `/` fits a phone and passes axe-core.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { openPage, startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { programOf } from '../harness/pages/console-page.ts'
import { freePort } from '../../harness/services.ts'
import { bearer } from '../../harness/host.ts'
import { moneyUser } from '../harness/money.ts'
import { OPERATOR_TOKEN, startOperatedHost, type OperatedHost } from '../harness/operator.ts'
import { testStates, type PageState, type Scheme } from '../harness/pages/page-checks.ts'

const HOUR_MS = 3_600_000
const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-pictures-'))
const env = {
  DATA_DIR: dataDir,
  PORT: String(await freePort()),
  SERVICE_NAME: 'Acme Pay Sandbox',
  RATE_LIMITS: '{"bootstrapPerAddressPerMinute":5}',
}
let behind = 20 * HOUR_MS
const host = await startOperatedHost(env, { now: () => Date.now() - behind })
const quiet = await startOperatedHost({ SERVICE_NAME: 'Acme Pay' })
const pages = await startPageHost({ SERVICE_NAME: 'Acme Pay Sandbox' })
const { db, close } = openDatabaseOf(env)
const browser = await startBrowser()
t.teardown(async () => {
  await browser.close()
  await close()
  for (const each of [host, quiet, pages]) await each.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const root = await programOf(host, testWallet('Rabbit Wallet'))
for (let slot = 0; slot < 240; slot++) {
  const requests = 2 + Math.round(5 * (1 + Math.sin(slot / 30)))
  for (let n = 0; n < requests; n++)
    await fetch(host.url + (n % 5 === 4 ? '/user/v1/keys' : n % 7 === 6 ? '/consumer/v1/keys' : '/healthz'))
  if (slot > 100 && slot < 130)
    for (let n = 0; n < 8; n++) await host.send('/user/v1/bootstrap', { body: {} })
  for (let n = 0; n < 3; n++) await host.chore('measure stores')
  behind -= HOUR_MS / 12
}
behind = 0
for (const [label, cents, times] of [
  ['agent-shopping', 5000, 9],
  ['agent-travel', 20_000, 4],
  ['ci', 100, 2],
] as const) {
  const body = { label, policy: { dailySpendCapCents: cents } }
  const made = await host.send('/user/v1/keys', { body, headers: bearer(root.token) })
  const headers = { 'x-user-key': made.body['userApiKey'] as string }
  const minted = await host.send('/user/v1/sessions', { body: {}, headers })
  const agent = moneyUser(host.send, { token: minted.body['sessionToken'] as string })
  for (let n = 0; n < times; n++) await agent.write('/subscriptions/payin', { amountCents: cents + 1 })
}
const now = Date.now()
for (const n of [1, 2, 3]) {
  const lost = `insert into gw_idempotency (account_id, digest, fingerprint, owner, fence, state, until, operation, account, began)
    values ('acc_1', $1, $2, '', $3, 'running', $4, 'payments.create', 'acc_1', $3)`
  const began = now - 2 * n * HOUR_MS
  await db.query(lost, [
    `digest-${n}`,
    `eF3kZ0q1XbT7uYwN5cR8sLdV2mHgJ4pAoI6tKzQnB9${n}`,
    began,
    n === 3 ? 0 : began + 60_000,
  ])
  const job = `insert into gw_jobs (account_id, kind, subject_id, due_at, created_at, attempts) values ('acc_1', $1, $2, $3, $4, $5)`
  const kind = ['kyc.review', 'withdrawal.follow', 'deposit.follow'][n - 1] as string
  await db.query(job, [kind, `wd_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a5${n}`, now + 60_000, now - n * 400_000, n])
}

const viewport = { width: 1280, height: 900 }

async function figures(from: OperatedHost, colorScheme: Scheme): Promise<Page> {
  const { page } = await openPage(browser, from.operatorUrl, { colorScheme, viewport })
  await page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
  await page.keyboard.press('Enter')
  const requests = page.getByRole('region', { name: 'Requests in the last 24 hours', exact: true })
  await requests.getByText('allowed').first().waitFor()
  await page.getByRole('button', { name: 'Check the ledger' }).click()
  // The check of the ledger runs in a process of lower priority, which waits on a busy machine.
  await page
    .getByText(/^Balanced: /)
    .first()
    .waitFor({ timeout: 60_000 })
  return page
}

const operator: Readonly<Record<string, PageState>> = {
  unlock: async colorScheme => (await openPage(browser, host.operatorUrl, { colorScheme, viewport })).page,
  'wrong-token': async colorScheme => {
    const { page } = await openPage(browser, host.operatorUrl, { colorScheme, viewport })
    await page.getByLabel('Operator token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('This is not the token of this host.').waitFor()
    return page
  },
  figures: scheme => figures(host, scheme),
  quiet: scheme => figures(quiet, scheme),
  request: async scheme => {
    const page = await figures(host, scheme)
    await page
      .getByRole('button', { name: /daily limit/ })
      .last()
      .click()
    return page
  },
  away: async scheme => {
    const page = await figures(host, scheme)
    await page.route('**/operator**', route => route.abort())
    await page.getByText('The host does not answer. Retrying').waitFor()
    return page
  },
  decide: async scheme => {
    const page = await figures(host, scheme)
    await page.getByRole('button', { name: 'Decide' }).first().click()
    await page.getByLabel('It took effect').check()
    return page
  },
}

const docs: PageState = async colorScheme => {
  const { page } = await openPage(browser, `${pages.url}/docs`, { colorScheme, viewport })
  await page.locator('aside.t-doc__sidebar').getByText('Cards', { exact: true }).first().waitFor()
  return page
}

const home: Readonly<Record<string, PageState>> = {
  errors: async colorScheme =>
    (await openPage(browser, `${pages.url}/errors`, { colorScheme, viewport })).page,
  'not-found': async colorScheme =>
    (await openPage(browser, `${pages.url}/helpr`, { colorScheme, viewport })).page,
  home: async colorScheme => (await openPage(browser, `${pages.url}/`, { colorScheme, viewport })).page,
}

await testStates(t, 'operator', operator, { count: 3 })
await testStates(t, 'docs', { introduction: docs }, { count: 1, fullPage: false })
await testStates(t, 'home', home, { count: 1 })
