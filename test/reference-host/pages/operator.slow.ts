import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import t from 'tap'
import { openPage, startBrowser } from '../../harness/browser/browser.ts'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { bearer, bootstrapUser } from '../../harness/host.ts'
import { countPlots } from '../../harness/browser/in-page/plots.ts'
import { OPERATOR_TOKEN, startOperatedHost } from '../harness/operator.ts'
import { checkState } from '../harness/pages/page-checks.ts'

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
const agent = await host.send('/user/v1/keys', {
  body: { label: 'agent-shopping', scopes: ['cards.read'] },
  headers: bearer(user.token),
})
const minted = await host.send('/user/v1/sessions', {
  body: {},
  headers: { 'x-user-key': agent.body['userApiKey'] as string },
})
/** Asks for what the agent may not do, and returns the request id. */
async function refuse(): Promise<string> {
  const headers = bearer(minted.body['sessionToken'] as string)
  const refused = await host.send('/user/v1/keys', { body: { scopes: [] }, headers })
  return refused.headers.get('x-request-id') as string
}
await refuse()
const refusedId = await refuse()
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
// As old, but not due yet: a deposit that nobody has paid. It waits, and needs nobody.
await db.query(
  `insert into gw_jobs (account_id, kind, subject_id, due_at, created_at) values ('acc_1', $1, $2, $3, $4)`,
  ['deposit.find', 'subject-2', Date.now() + 3_600_000, began],
)

async function unlocked(
  colorScheme: 'light' | 'dark' = 'light',
  prepare = (context: BrowserContext): Promise<unknown> => context.addInitScript(countPlots),
) {
  const open = await openPage(browser, host.operatorUrl, { colorScheme, viewport, prepare })
  await open.page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
  await open.page.keyboard.press('Enter')
  await part(open.page, 'Requests in the last 24 hours').getByText('allowed').first().waitFor()
  return open
}
const part = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true })

await t.test('says that a wrong token is denied, and keeps no token', async t => {
  const { page, faults, kept, addresses } = await openPage(browser, host.operatorUrl, { viewport })
  await page.getByLabel('Operator token').fill('wrong')
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByRole('alert').filter({ hasText: 'This is not the token of this host.' }).waitFor()
  await checkState(t, page, 'unlock')
  t.same(await kept(), [])
  t.same(addresses, [host.operatorUrl])
  t.same(faults, { reports: [], foreign: [], errors: [] })
  await page.context().close()
})

for (const scheme of ['light', 'dark'] as const) {
  await t.test(`shows the figures, ${scheme}`, async t => {
    const { page, faults, addresses } = await unlocked(scheme)
    const summary = page.getByRole('list', { name: 'Summary' })
    await summary.getByText('3 things').waitFor()
    await summary.getByText('All systems normal').waitFor()
    const words = await summary.innerText()
    t.match(words, /Host\s+All systems normal\s+Checked: database, /)
    t.match(words, /Money\s+Not checked/)
    t.match(words, /Refused\s+\d+ % in the last hour\s+Most in 24 hours: permission missing, 2\./)
    const shown: readonly (readonly [name: string, waitFor: string, text: RegExp])[] = [
      ['The latest hour', 'Server errors', /Requests per minute\s+[\d.]+\s+No figure for yesterday/],
      ['Needs attention', 'effect…6789', /2 lost writes[^]*effect…6789/],
      [
        'Needs attention',
        'other.call',
        /Provider calls that wait late[^]*other\.call: 1 waiting, oldest 6\d min/,
      ],
      ['Top refusals', 'permission missing', /permission missing\s+New key\s+0x\w+…\w+\s+agent-shopping\s+2/],
      [
        'Latest requests',
        'permission missing',
        /Refused · permission missing\s+New key\s+0x\w+…\w+\s+agent-shopping/,
      ],
      ['Stores', 'database', /database\s+[\d.]+ m?s\s+[\d.]+ m?s\s+\d+/],
      ['Legacy names in use', 'prefix:/consumer/v1', /prefix:\/consumer\/v1\s+1 request of 1 caller/],
    ]
    for (const [name, waitFor, text] of shown) {
      await part(page, name).getByText(waitFor).first().waitFor()
      t.match(await part(page, name).innerText(), text)
    }
    t.equal(await page.locator('canvas').count(), 2, 'requests and one store are plotted')
    await checkState(t, page, 'figures')
    t.same(faults, { reports: [], foreign: [], errors: [] })
    t.same(addresses, [host.operatorUrl], 'the token is in no address')
    await page.context().close()
  })
}

await t.test('says in its header whether the host is ready, and links to the pages of the host', async t => {
  const { page } = await unlocked()
  const pages = page.getByRole('navigation', { name: 'Pages' })
  await pages.getByRole('link', { name: 'Ready', exact: true }).waitFor()
  t.equal(await pages.getByRole('link', { name: 'Operator' }).getAttribute('aria-current'), 'page')
  for (const [name, path] of [
    ['Home', '/'],
    ['Console', '/helper'],
    ['API', '/docs'],
    ['Ready', '/readyz'],
  ] as const) {
    const address = (await pages.getByRole('link', { name, exact: true }).getAttribute('href')) as string
    t.equal(new URL(address, host.operatorUrl).pathname, path)
    t.not(new URL(address, host.operatorUrl).origin, new URL(host.operatorUrl).origin)
  }
  await page.getByRole('button', { name: 'Lock' }).click()
  await pages.getByText('Ready').waitFor({ state: 'hidden' })
  await page.context().close()
})

await t.test('lists lost history in the inbox, with what to do', async t => {
  await db.query(
    `insert into gw_lost_history (host_id, found_at, acknowledged_at, kept_at)
      values ('host_a', $1, $2, null)`,
    [Date.now(), began],
  )
  t.teardown(() => db.query('delete from gw_lost_history', []))
  const { page } = await unlocked()
  const inbox = part(page, 'Needs attention')
  await inbox.getByRole('heading', { name: 'Lost history' }).waitFor()
  t.match(await inbox.innerText(), /gatewright history accept[^]*just now\s+unknown\s+.* UTC\s+host_a/)
  await page.getByRole('list', { name: 'Summary' }).getByText('4 things').waitFor()
  await page.context().close()
})

await t.test('opens a refusal with its request id, cause and key, and leads to its account', async t => {
  const { page, faults } = await unlocked()
  const latest = part(page, 'Latest requests')
  const open = latest.getByRole('button', { name: 'Refused · permission missing' }).first()
  await open.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  const text = await dialog.innerText()
  t.match(text, /New key\s+Refused · permission missing/)
  t.match(text, new RegExp(`Request id\\s+${refusedId}[^]*Account\\s+acc_[^]*agent-shopping[^]*keys\\.write`))
  await checkState(t, page, 'request')
  await page.keyboard.press('Escape')
  t.equal(await page.locator(':focus').innerText(), 'Refused · permission missing', 'the focus returns')

  const search = page.getByLabel('Find a key, an account, a request, a card or a transaction')
  await search.fill(` ${refusedId} `)
  await page.keyboard.press('Enter')
  const found = page.locator('#found')
  await found.getByRole('button', { name: 'Refused · permission missing' }).click()
  await dialog.getByText(refusedId).waitFor()
  await dialog.getByRole('button', { name: 'Open account' }).click()
  t.equal(await dialog.count(), 0)
  await found.getByRole('heading', { name: /^0x/ }).waitFor()
  t.same(faults, { reports: [], foreign: [], errors: [] })
  await page.context().close()
})

await t.test('lists the requests of one kind of refusal, and of another outcome', async t => {
  const { page } = await unlocked()
  const latest = part(page, 'Latest requests')
  await part(page, 'Top refusals').getByRole('button', { name: 'permission missing' }).click()
  await latest.getByText('Only permission missing · New key').waitFor()
  const rows = latest.locator('tbody tr')
  await rows.nth(2).waitFor({ state: 'detached' })
  t.equal(await rows.count(), 2)
  await latest.getByRole('button', { name: 'Show all refusals' }).click()
  await latest.getByLabel('Outcome').selectOption('Allowed')
  await latest.getByRole('button', { name: 'Allowed' }).first().waitFor()
  await latest.getByLabel('Outcome').selectOption('Failed')
  await latest.getByText('No recorded request matches.').waitFor()
  await page.context().close()
})

await t.test('opens all requests of the account of a row', async t => {
  const { page } = await unlocked()
  const latest = part(page, 'Latest requests')
  const account = part(page, 'Top refusals')
    .getByRole('button', { name: /^0x\w{4}…\w{4}$/ })
    .first()
  const name = await account.innerText()
  await account.click()
  await latest.getByText(`Only requests of account ${name}`).waitFor()
  await latest.getByRole('button', { name: 'Allowed' }).first().waitFor()
  const rows = await latest.locator('tbody tr').allInnerTexts()
  t.ok(rows.length > 2)
  for (const row of rows) t.match(row, name)
  await page.context().close()
})

await t.test(
  'hides parts without figures on a host that has just started, and says so in one line',
  async t => {
    const fresh = await startOperatedHost()
    t.teardown(() => fresh.close())
    const { page } = await openPage(browser, fresh.operatorUrl, { viewport })
    await page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
    await page.keyboard.press('Enter')
    await part(page, 'Needs attention').getByText('Nothing needs attention').waitFor()
    await page.getByRole('list', { name: 'Summary' }).getByText('Nobody is refused.').waitFor()
    await part(page, 'Latest requests').getByText('No recorded request matches.').waitFor()
    await part(page, 'Legacy names in use').waitFor({ state: 'hidden' })
    await part(page, 'Top refusals').waitFor({ state: 'hidden' })
    await checkState(t, page, 'fresh')
    await page.context().close()
  },
)

await t.test('reads new figures by itself, keeps the focus, and stops while it is paused', async t => {
  const { page } = await unlocked('light', context => context.clock.install())
  const latest = part(page, 'Latest requests')
  const row = latest.getByRole('button', { name: 'Refused · permission missing' }).first()
  await row.focus()
  const before = await latest.getByRole('row').count()
  await refuse()
  await page.clock.fastForward(5000)
  await latest.getByRole('row').nth(before).waitFor()
  t.equal(await page.locator(':focus').innerText(), 'Refused · permission missing')
  const pause = page.getByRole('button', { name: 'Pause' })
  await pause.click()
  t.equal(await pause.getAttribute('aria-pressed'), 'true')
  const asked: string[] = []
  page.on('request', request => asked.push(request.url()))
  await page.getByText(/^Paused at /).waitFor()
  await page.clock.fastForward(60_000)
  t.same(asked, [])
  const again = page.waitForRequest(/operator\/api\/refusals/)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await again
  await page.context().close()
})

await t.test('keeps the token in the tab over a reload, until it is locked', async t => {
  const { page, kept } = await unlocked()
  t.equal((await kept()).length, 1)
  await page.reload()
  await page.getByRole('list', { name: 'Summary' }).waitFor()
  const other = await page.context().newPage()
  await other.goto(host.operatorUrl)
  await other.getByLabel('Operator token').waitFor()
  await page.getByRole('button', { name: 'Lock' }).click()
  t.equal(await page.getByLabel('Operator token').inputValue(), '')
  t.same(await kept(), [])
  await page.evaluate(`sessionStorage.setItem('gatewright.operator-token', 'changed')`)
  await page.reload()
  await page.getByText('The host does not accept this token.').first().waitFor()
  t.same(await kept(), [], 'a token that is not accepted is not kept')
  await page.context().close()
})

await t.test('says whether the host is ready without what is down', async () => {
  const { page } = await unlocked()
  for (const [ready, words] of [
    [true, 'Ready without redis'],
    [false, 'Not ready: redis'],
  ] as const) {
    await page.route('**/operator/api/state', route =>
      route.fulfill({ json: { ready, dependencies: { database: 'ok', redis: 'down' }, feedAgeSeconds: 0 } }),
    )
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByRole('list', { name: 'Summary' }).getByText(words).waitFor()
  }
  await page.context().close()
})

await t.test('works in a browser that refuses storage', async () => {
  const { page } = await openPage(browser, 'about:blank')
  await page.addInitScript(
    `Object.defineProperty(globalThis, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError') } })`,
  )
  await page.goto(host.operatorUrl)
  await page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByRole('list', { name: 'Summary' }).waitFor()
  await page.context().close()
})

await t.test('one banner says that the host does not answer, until it does', async t => {
  const { page } = await unlocked()
  await part(page, 'Needs attention').getByText('2 lost writes').waitFor()
  await page.route('**/operator**', route => route.abort())
  await page.getByText(/^The host does not answer\. Retrying in \d s\.$/).waitFor()
  t.equal(
    await page.getByText('does not answer').filter({ visible: true }).count(),
    2,
    'the banner, and what is announced',
  )
  t.equal(await page.locator('.note.bad').count(), 0)
  t.ok(await part(page, 'Needs attention').getByText('2 lost writes').isVisible(), 'the last figures stay')
  await checkState(t, page, 'away')
  await page.unroute('**/operator**')
  await page.route('**/operator/api/**', route => route.abort())
  await page.reload()
  await page
    .getByText(/^The host does not answer/)
    .first()
    .waitFor()
  await page.unroute('**/operator/api/**')
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByRole('list', { name: 'Summary' }).getByText('3 things').waitFor()
  t.equal(await page.locator('.away-banner').count(), 0)
  await page.context().close()
})

await t.test('keeps no plot that was replaced by a newer one', async t => {
  const { page } = await unlocked()
  await page.locator('canvas').nth(1).waitFor()
  const kept = await page.evaluate('plotsOfTest')
  t.ok(Number(kept) >= 2)
  for (let n = 0; n < 3; n++) {
    const old = await page.locator('canvas').first().elementHandle()
    // Figures that are the same are not drawn again.
    await host.send('/healthz')
    await page.getByRole('button', { name: 'Refresh' }).click()
    await old?.waitForElementState('hidden')
    await page.locator('canvas').nth(1).waitFor()
  }
  await page.waitForFunction(`plotsOfTest === ${String(kept)}`)
  await page.context().close()
})

await t.test('reads a plot by the arrow keys', async t => {
  const { page } = await unlocked()
  const plot = page.getByRole('group', { name: /^Requests in each 5 minutes/ })
  await plot.focus()
  await page.keyboard.press('ArrowLeft')
  t.match(await page.locator('.plot-key').first().innerText(), /\d\d:\d\d UTC[^]*allowed\s+\d/)
  await page.context().close()
})

await t.test('checks the ledger and says what it found', async () => {
  const { page } = await unlocked()
  await page.getByRole('button', { name: 'Check the ledger' }).click()
  // The check gives way to requests, so a busy machine can let it wait.
  await part(page, 'Ledger')
    .getByText('Balanced: 0 transfers checked, no differences.')
    .waitFor({ timeout: 120_000 })
  await page.getByRole('list', { name: 'Summary' }).getByText('Balanced').waitFor()
  await page.context().close()
})

await t.test('resolves a lost run by the keyboard, and says when somebody else was faster', async t => {
  const { page, faults } = await unlocked()
  const other = await unlocked('dark')
  const runs = page.getByRole('region', { name: 'Needs attention', exact: true })
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
    .getByText('Somebody has decided about this write meanwhile. Nothing was changed.')
    .first()
    .waitFor()
  await decide(page, 'It took no effect')
  await runs.getByRole('heading', { name: /lost write/ }).waitFor({ state: 'detached' })
  t.same((await host.ask('/operator/api/lost-runs')).body['runs'], [])
  t.same(faults, { reports: [], foreign: [], errors: [] })
  await Promise.all([page.context().close(), other.page.context().close()])
})

await t.test('shows where events are sent, and sends one again', async t => {
  const now = Date.now()
  const addEndpoint = `insert into gw_webhook_endpoints
    (id, recipient_id, url, secret, sent_to, due_at, created_at, disabled_for, last_at, last_result, failing_since, not_before)
    values ($1, 'operator', $2, '-', '-', $3, 1, $4, $7, $5, $6, $3)`
  // Far in the future, so that no host sends.
  const later = now + 86_400_000
  await db.query(addEndpoint, ['we_ok', 'https://shop.example/hooks', later, null, '204', null, now])
  await db.query(addEndpoint, [
    'we_failing',
    `https://slow.example/${'x'.repeat(80)}`,
    later,
    null,
    '503',
    now - 3_600_000,
    now,
  ])
  await db.query(addEndpoint, ['we_gone', 'https://old.example/hooks', later, 'gone', '410', null, now])
  const body = JSON.stringify({ type: 'payin.settled', data: { id: 'payin_1', userId: 'usr_1' } })
  await db.query(
    `insert into gw_published_events (recipient_id, lane, position, event_id, body, published_at)
      values ('operator', 0, 1, 'evt_0123456789abcdef', $1, $2)`,
    [body, now],
  )
  for (const endpoint of ['we_failing', 'we_gone'])
    await db.query(
      `insert into gw_webhook_retries
        (recipient_id, endpoint_id, event_id, body, attempts, first_at, due_at, last_result)
        values ('operator', $1, 'evt_0123456789abcdef', $2, 3, $3, $4, '503')`,
      [endpoint, body, now - 3_600_000, now + 1_800_000],
    )
  for (const scheme of ['light', 'dark'] as const) {
    const { page, faults } = await unlocked(scheme)
    const webhooks = part(page, 'Webhooks')
    await webhooks.getByText('https://old.example/hooks').first().waitFor()
    const words = await webhooks.innerText()
    t.match(words, /old\.example\/hooks\s+operator\s+disabled responded with 410\s+410/)
    t.match(words, /failing since 1 hour ago[^]*working\s+204/, 'what needs attention comes first')
    if (scheme === 'light') t.match(words, /evt_01…cdef[^]*3\s+503\s+in \d+ minutes[^]*when it is enabled/)
    await webhooks.scrollIntoViewIfNeeded()
    await checkState(t, page, 'webhooks')
    await page.setViewportSize({ width: 390, height: 844 })
    await webhooks.scrollIntoViewIfNeeded()
    await checkState(t, page, 'webhooks-narrow')
    await webhooks.getByRole('button', { name: 'Send again' }).first().click()
    await webhooks.getByText(/^The event is sent at the next turn of its endpoint/).waitFor()
    t.same(faults, { reports: [], foreign: [], errors: [] })
    await page.context().close()
  }
  const { rows: sent } = await db.query(
    `select attempts, due_at from gw_webhook_retries where endpoint_id = 'we_failing'`,
  )
  t.equal(Number(sent[0]?.['attempts']), 0)
  t.ok(Number(sent[0]?.['due_at']) <= Date.now())
  for (const [given, status] of [
    [{}, 400],
    [{ eventId: 'evt_0123456789abcdef' }, 400],
    [{ eventId: 'evt_none', endpointId: 'we_ok' }, 404],
    [{ eventId: 'evt_0123456789abcdef', endpointId: 'we_none' }, 404],
  ] as const)
    t.match(await host.ask('/operator/api/webhooks/replay', { body: given }), { status })
})

await t.test('lists events of providers that were not applied, and marks one as handled', async t => {
  const now = Date.now()
  const keep = `insert into gw_kept_events
    (id, provider, type, object_id, message_id, digest, reason, amount_cents, card_id, data, received_at, attention_at)
    values ($1, 'sandbox', $2, $3, 'message-1', 'digest', $4, $5, $6, '{}', $7, $7)`
  await db.query(keep, [
    'kept_1',
    'authorization.cleared',
    'offline-1',
    'unknown_object',
    90_050,
    'card_1',
    now,
  ])
  await db.query(keep, ['kept_2', 'kyc.report', 'x'.repeat(60), 'conflict', null, null, now - 7_200_000])
  for (const scheme of ['light', 'dark'] as const) {
    const { page, faults } = await unlocked(scheme)
    const list = part(page, 'Needs attention')
    const marks = list.getByRole('button', { name: 'Mark as handled' })
    await list.getByRole('heading', { name: /events? of providers not applied/ }).waitFor()
    const words = await list.innerText()
    if (scheme === 'light')
      t.match(
        words,
        /sandbox authorization\.cleared\s+offline-1\s+Copy\s+900\.50 USD\s+card_1\s+Copy\s+(?:just now|\d+ seconds? ago)\s+its object is unknown/,
      )
    t.match(
      words,
      /kyc\.report\s+xxxxxx…xxxx\s+x{60}\s+Copy\s+not named\s+not named\s+2 hours ago\s+repeats an id with other content/,
    )
    await list.scrollIntoViewIfNeeded()
    await checkState(t, page, 'kept events')
    await list.screenshot({ path: `build/screenshots/operator-kept-${scheme}.png` })
    await page.setViewportSize({ width: 390, height: 844 })
    await list.screenshot({ path: `build/screenshots/operator-kept-${scheme}-390.png` })

    const waiting = await marks.count()
    await marks.first().click()
    const dialog = page.getByRole('dialog')
    await checkState(t, page, 'kept event dialog')
    await page.screenshot({ path: `build/screenshots/operator-kept-dialog-${scheme}-390.png` })
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    t.equal(await marks.count(), waiting, 'nothing is marked')
    await marks.first().click()
    await dialog.getByLabel('Reference').fill('two words')
    await dialog.getByRole('button', { name: 'Mark as handled' }).click()
    await dialog.getByLabel('Reference').fill('ticket-42')
    if (scheme === 'dark')
      await db.query(`update gw_kept_events set handled_at = $1, reference = 'other' where id = 'kept_2'`, [
        now,
      ])
    await page.keyboard.press('Enter')
    const said =
      scheme === 'light' ? 'The event is handled. It is never applied.' : /somebody has handled it\.$/
    await list.getByText(said).waitFor()
    t.equal(await marks.count(), waiting - 1)
    t.same(faults, { reports: [], foreign: [], errors: [] })
    await page.context().close()
  }
  const { rows: kept } = await db.query('select id, reference from gw_kept_events order by id', [])
  t.same(
    kept.map(({ id, reference }) => [id, reference]),
    [
      ['kept_1', 'ticket-42'],
      ['kept_2', 'other'],
    ],
  )
})
