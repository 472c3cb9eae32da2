import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import t from 'tap'
import { openPage, startBrowser } from '../../harness/browser.ts'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { bearer, bootstrapUser } from '../../harness/host.ts'
import { countPlots } from '../../harness/in-page/plots.ts'
import { OPERATOR_TOKEN, startOperatedHost } from '../../harness/operator.ts'
import { checkState } from '../../harness/page-checks.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-operator-page-'))
const env = { DATA_DIR: dataDir }
const host = await startOperatedHost(env)
const { db, close } = openDatabaseOf(env)
t.teardown(async () => {
  await close()
  await host.close()
  rmSync(dataDir, { recursive: true, force: true })
})
const browser = await startBrowser()
t.teardown(() => browser.close())
const viewport = { width: 1280, height: 900 }

const user = await bootstrapUser(host.send)
await host.send('/consumer/v1/keys', { headers: bearer(user.token) })
for (let n = 0; n < 3; n++) await host.chore('measure stores')
const began = Date.now() - 3_600_000
for (const digest of ['one', 'two'])
  await db.query(
    `insert into gw_idempotency (account_id, digest, fingerprint, owner, fence, state, until, operation, account, began)
      values ('acc_1', $1, $2, '', $3, 'running', 0, 'payments.create', 'acc_1', $3)`,
    [digest, `effect-of-${digest}-0123456789`, began],
  )
await db.query(
  `insert into gw_jobs (account_id, kind, subject_id, due_at, created_at) values ('acc_1', $1, $2, $3, $4)`,
  ['other.call', 'subject-1', began, began],
)

async function unlocked(colorScheme: 'light' | 'dark') {
  const prepare = (context: BrowserContext) => context.addInitScript(countPlots)
  const open = await openPage(browser, host.operatorUrl, { colorScheme, viewport, prepare })
  await open.page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
  await open.page.keyboard.press('Enter')
  await open.page
    .getByRole('region', { name: 'Decisions', exact: true })
    .getByText('allowed')
    .first()
    .waitFor()
  return open
}

await t.test('says that a wrong token is denied, and keeps no token', async t => {
  const { page, faults, kept, addresses } = await openPage(browser, host.operatorUrl, { viewport })
  await page.getByLabel('Operator token').fill('wrong')
  await page.getByRole('button', { name: 'Show the figures' }).click()
  await page.getByRole('alert').filter({ hasText: 'This is not the token of this host.' }).waitFor()
  await checkState(t, page, 'unlock')
  t.same(await kept(), [])
  t.same(addresses, [host.operatorUrl])
  t.same(faults, { reports: [], foreign: [], errors: [] })
  await page.context().close()
})

for (const scheme of ['light', 'dark'] as const) {
  await t.test(`shows the figures, ${scheme}`, async t => {
    const { page, faults, kept } = await unlocked(scheme)
    const shown: readonly (readonly [part: string, waitFor: string, text: RegExp])[] = [
      ['Right now', 'Withdrawals with attention', /Revocation feed[^]*Withdrawals with attention none/],
      ['Stores', 'database', /database\s+[\d.]+ ms\s+[\d.]+ ms\s+\d+/],
      ['Provider calls that wait', 'other.call', /other\.call\s+1 waiting, oldest 60 min/],
      ['Legacy names in use', 'prefix:/consumer/v1', /prefix:\/consumer\/v1\s+1 request of 1 caller/],
      ['Lost runs', 'effect…6789', /effect…6789/],
    ]
    // Each part has a request of its own.
    for (const [part, waitFor, text] of shown) {
      const region = page.getByRole('region', { name: part, exact: true })
      await region.getByText(waitFor).first().waitFor()
      t.match(await region.innerText(), text)
    }
    t.equal(await page.locator('canvas').count(), 2, 'decisions and one store are plotted')
    await checkState(t, page, 'figures')
    t.same(faults, { reports: [], foreign: [], errors: [] })
    t.same(await kept(), [])
    await page.context().close()
  })
}

await t.test('keeps no plot that was replaced by a newer one', async t => {
  const { page } = await unlocked('light')
  await page.locator('canvas').nth(1).waitFor()
  const kept = await page.evaluate('plotsOfTest')
  t.ok(Number(kept) >= 2)
  for (let n = 0; n < 3; n++) {
    const old = await page.locator('canvas').first().elementHandle()
    await page.getByRole('button', { name: 'Refresh' }).click()
    await old?.waitForElementState('hidden')
    await page.locator('canvas').nth(1).waitFor()
  }
  await page.waitForFunction(`plotsOfTest === ${String(kept)}`)
  await page.context().close()
})

await t.test('reads a plot by the arrow keys', async t => {
  const { page } = await unlocked('light')
  const plot = page.getByRole('group', { name: /^Requests in each 5 minutes/ })
  await plot.focus()
  await page.keyboard.press('ArrowLeft')
  t.match(await page.locator('.plot-key').first().innerText(), /\d\d:\d\d UTC[^]*allowed\s+\d/)
  await page.context().close()
})

await t.test('checks the ledger and says what it found', async t => {
  const { page } = await unlocked('light')
  await page.getByRole('button', { name: 'Check the ledger' }).click()
  const right = page.getByText('Right: 0 transfers, every account adds up, the sum is 0.').first()
  await right.waitFor()
  t.ok(await right.isVisible())
  await page.context().close()
})

await t.test('resolves a lost run by the keyboard, and says when somebody else was faster', async t => {
  const { page, faults } = await unlocked('light')
  const other = await unlocked('dark')
  const runs = page.getByRole('region', { name: 'Lost runs', exact: true })
  await runs.getByRole('button', { name: 'Decide' }).first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await checkState(t, page, 'dialog')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const undecided = (await host.ask('/operator/api/lost-runs')).body['runs'] as unknown[]
  t.equal(undecided.length, 2, 'nothing was decided')

  const decide = async (on: typeof page, outcome: string, data?: string): Promise<void> => {
    await on.getByRole('button', { name: 'Decide' }).first().click()
    const dialog = on.getByRole('dialog')
    await dialog.getByLabel(outcome).check()
    if (data !== undefined) {
      await dialog.getByLabel('Response data').fill('no JSON')
      await dialog.getByLabel('Who decides').fill('Ana')
      await dialog.getByLabel('Why').fill('ticket 7')
      await dialog.getByRole('button', { name: 'Decide' }).click()
      await dialog.getByRole('alert').filter({ hasText: 'no JSON object' }).waitFor()
      await dialog.getByLabel('Response data').fill(data)
    }
    await dialog.getByLabel('Who decides').fill('Ana')
    await dialog.getByLabel('Why').fill('ticket 7')
    await dialog.getByRole('button', { name: 'Decide' }).click()
  }
  await decide(page, 'It took effect', '{"id":"x"}')
  await page.getByText('Retries of this request now return the completed response.').first().waitFor()
  await decide(other.page, 'It took no effect')
  await other.page
    .getByText('Somebody has decided about this run meanwhile. Nothing was changed.')
    .first()
    .waitFor()
  await decide(page, 'It took no effect')
  await page.getByText('No run is lost.').waitFor()
  t.same((await host.ask('/operator/api/lost-runs')).body['runs'], [])
  t.same(faults, { reports: [], foreign: [], errors: [] })
  await Promise.all([page.context().close(), other.page.context().close()])
})

await t.test('asks for the token again once it was forgotten', async t => {
  const { page } = await unlocked('light')
  await page.getByRole('button', { name: 'Forget the token' }).click()
  t.equal(await page.getByLabel('Operator token').inputValue(), '')
  await page.context().close()
})
