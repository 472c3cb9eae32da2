// A console with 10,000 transactions: few rows in the document, and no long task while scrolling.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { accountOf, openTab, programOf, writeTransactions } from '../harness/pages/console-page.ts'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { openHelper, signInBy } from '../harness/pages/helper-page.ts'
import { scrollThrough } from '../../harness/browser/in-page/scroll.ts'
import { tasksWhile } from './main-thread.ts'

const COUNT = 10_000
const MAX_ROWS = 200
const DATA_DIR = mkdtempSync(join(tmpdir(), 'gatewright-console-'))
const host = await startPageHost({ DATA_DIR })
const browser = await startBrowser()
t.teardown(async () => {
  await browser.close()
  await host.close()
  rmSync(DATA_DIR, { recursive: true, force: true })
})

t.test('shows 10,000 transactions with at most 200 rows, and measures the tasks of scrolling', async t => {
  const wallet = testWallet()
  await programOf(host, wallet)
  const { db, close } = openDatabaseOf({ DATA_DIR })
  await writeTransactions(db, await accountOf(db, wallet.account), { count: COUNT, days: 29 })
  await close()
  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet], {
    viewport: { width: 1100, height: 800 },
  })
  const started = Date.now()
  await signInBy(page, wallet)
  // The plot needs all of them, since all are of the last 30 days.
  await page.getByRole('slider').waitFor({ timeout: 60_000 })
  const readMs = Date.now() - started
  await openTab(page, 'Transactions')
  const table = page.getByRole('table', { name: 'Transactions' })
  await table.getByRole('row').nth(5).waitFor()
  const { result, tasks } = await tasksWhile(browser, page, () => page.evaluate(scrollThrough, '.virtual'))
  const { frames, most, end } = result
  // Measured and not asserted: a busy machine makes every task longer. Wanted: none over 50 ms.
  const longest = tasks.map(({ cpuMs }) => cpuMs).sort((a, b) => b - a)
  t.comment(`measured ${COUNT} read in ${readMs} ms; ${frames} frames; at most ${most} rows`)
  t.comment(
    `measured longest tasks of ${tasks.length}: ${longest.slice(0, 3).join(', ')} ms of processor time`,
  )
  t.ok(tasks.length > frames, 'tasks were measured')
  t.ok(most > 10 && most <= MAX_ROWS, `${most} rows`)
  t.match(end, /Payment 1$/m, 'the oldest one is at the end')
  t.equal(await table.getAttribute('aria-rowcount'), String(COUNT + 1))
  t.same(faults, { reports: [], foreign: [], errors: [] })
})
