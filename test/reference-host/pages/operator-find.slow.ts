// The box of the operator page: what was told finds the account, and what leaks is stopped, in a real browser.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { openPage, startBrowser } from '../../harness/browser/browser.ts'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { bearer, bootstrapUser } from '../../harness/host.ts'
import { cardUser } from '../harness/card-payments.ts'
import { OPERATOR_TOKEN, startOperatedHost } from '../harness/operator.ts'
import { checkState, type Scheme } from '../harness/pages/page-checks.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-operator-find-'))
const env = { DATA_DIR: dataDir, RATE_LIMITS: 'off' }
const host = await startOperatedHost(env)
const { db, close } = openDatabaseOf(env)
const browser = await startBrowser()
t.teardown(async () => {
  await browser.close()
  await close()
  await host.close()
  rmSync(dataDir, { recursive: true, force: true })
})
const { send } = host
const viewport = { width: 1280, height: 900 }
const pictures = 'build/screenshots/operator-find'
mkdirSync(pictures, { recursive: true })

const payee = await bootstrapUser(send)

/** An account with money, a labelled key below that of its wallet, a card of that key, two open pay-ins and a refusal. */
async function newOwner(label = 'agent-shopping') {
  const root = await bootstrapUser(send, { sessionTtlSeconds: 86_400 })
  await cardUser(send, root.token).fund(2_435_101)
  const policy = { dailySpendCapCents: 5000, maxAuthAmountCents: 1000 }
  const made = await send('/user/v1/keys', { body: { label, policy }, headers: bearer(root.token) })
  const key = made.body['userApiKey'] as string
  const mint = () => send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
  const token = (await mint()).body['sessionToken'] as string
  const user = cardUser(send, token)
  const card = await user.card()
  for (const amountCents of [500, 600]) await user.write('/subscriptions/payin', { amountCents })
  const to = { walletAddress: payee.address }
  const refused = await user.write('/payments', { to, amountCents: 9500 })
  const requestId = refused.headers.get('x-request-id') as string
  await send('/user/v1/keys', { body: { label: 'worker' }, headers: bearer(token) })
  const cards = (await send('/user/v1/cards', { headers: bearer(token) })).body.data['cards'] as {
    last4: string
  }[]
  const last4 = cards[0]?.last4 as string
  return {
    root,
    key,
    keyId: made.body['userKeyId'] as string,
    card,
    last4,
    requestId,
    mint,
  }
}

async function unlocked(colorScheme: Scheme = 'light') {
  const open = await openPage(browser, host.operatorUrl, { colorScheme, viewport })
  const sent: string[] = []
  open.page.on('request', request => sent.push(`${request.url()} ${request.postData() ?? ''}`))
  const logged: string[] = []
  open.page.on('console', message => logged.push(message.text()))
  await open.page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
  await open.page.keyboard.press('Enter')
  await box(open.page).waitFor()
  return { ...open, sent, logged }
}
const box = (page: Page): Locator =>
  page.getByLabel('Find a key, an account, a request, a card or a transaction')
const found = (page: Page): Locator => page.locator('#found')
const rowOf = (page: Page, name: string): Locator => found(page).getByRole('row').filter({ hasText: name })

async function find(page: Page, text: string): Promise<void> {
  await box(page).fill(text)
  await page.keyboard.press('Enter')
}

/** Fills in who and why, and confirms. */
async function confirm(page: Page, label: string, by: string | undefined = 'Ana'): Promise<void> {
  const dialog = page.getByRole('dialog')
  if (by !== undefined) await dialog.getByLabel('Who does it').fill(by)
  await dialog.getByLabel('Why').fill('leaked, ticket 7')
  await dialog.getByRole('button', { name: label }).click()
  await dialog.waitFor({ state: 'detached' })
}

async function picture(page: Page, name: string): Promise<void> {
  const part = page.locator('#find')
  await part.screenshot({ path: `${pictures}/${name}.png` })
  await page.setViewportSize({ width: 390, height: 844 })
  await part.screenshot({ path: `${pictures}/${name}-390.png` })
  await page.setViewportSize(viewport)
}

t.test('a whole key text finds its account, and its secret is nowhere afterwards', async t => {
  const { key, keyId } = await newOwner()
  const secret = key.slice(key.lastIndexOf('_') + 1)
  const { page, faults, kept, sent, logged, addresses } = await unlocked()
  await box(page).focus()
  await page.keyboard.insertText(`X-User-Key: ${key}`)
  t.equal(await box(page).inputValue(), keyId, 'the secret leaves the box before anything is sent')
  await page.keyboard.press('Enter')
  await rowOf(page, 'agent-shopping').getByText('Found').waitFor()
  t.equal(await page.locator(':focus').innerText(), await found(page).locator('h3').innerText())
  const html = await page.content()
  for (const [where, texts] of [
    ['what was sent', sent],
    ['what the page logged', logged],
    ['addresses and history', [...addresses, page.url()]],
    ['storage', [JSON.stringify(await kept())]],
    ['the document', [html]],
    ['the log of the host', host.decisions.map(decision => JSON.stringify(decision))],
  ] as const)
    t.same(
      texts.filter(text => text.includes(secret)),
      [],
      where,
    )
  await page.reload()
  await box(page).waitFor()
  t.equal(await box(page).inputValue(), '', 'a reload brings nothing back')
  t.same(faults, { reports: [], foreign: [], errors: [] })
  await page.context().close()
})

for (const scheme of ['light', 'dark'] as const)
  t.test(`a leaked key is paused, resumed and revoked with its cards, ${scheme}`, async t => {
    const { key, keyId, card, last4, mint, root } = await newOwner()
    const { page, faults } = await unlocked(scheme)
    await find(page, key)
    const row = rowOf(page, 'agent-shopping').first()
    await row.waitFor()
    const text = await found(page).innerText()
    t.match(text, /Balance\s+24,351\.01 USD/)
    t.match(text, /agent-shopping\s+Found\s+\w{16}\s+Active\s+10\.00 USD at once, 50\.00 USD a day/)
    t.match(text, new RegExp(`1 open card[^]*•••• ${last4}\\s+Active\\s+None of its own\\s+agent-shopping`))
    t.match(text, /2 live sessions[^]*The latest refusals[^]*Refused · limit per payment/)
    await checkState(t, page, 'account')
    await picture(page, `account-${scheme}`)

    await row.getByRole('button', { name: 'Pause' }).click()
    await checkState(t, page, 'pause dialog')
    await confirm(page, 'Pause')
    await found(page).getByText('agent-shopping is paused.').waitFor()
    await row.getByText('Paused by the operator').waitFor()
    t.match((await mint()).body, { rule: 'key_paused' })
    t.match(await cardUser(send, root.token).pay(card), { status: 'declined' })
    await row.getByRole('button', { name: 'Resume' }).click()
    t.equal(await page.getByRole('dialog').getByLabel('Who does it').inputValue(), 'Ana', 'the name is kept')
    await confirm(page, 'Resume', undefined)
    await row.getByText('Active').waitFor()
    t.equal((await mint()).status, 200)

    await row.getByRole('button', { name: 'Revoke' }).click()
    const dialog = page.getByRole('dialog')
    const words = await dialog.innerText()
    t.match(words, /Revoke agent-shopping\?[^]*1 live session\s/)
    t.match(
      words,
      /1 key below it: worker\s+2 open pay-ins, 11\.00 USD reserved: they stay payable\s+Last used/,
    )
    t.match(words, `Lock the 1 card that these keys made or showed: ••••\u00a0${last4}`)
    await checkState(t, page, 'revoke dialog')
    await page.screenshot({ path: `${pictures}/revoke-${scheme}.png` })
    await page.setViewportSize({ width: 390, height: 844 })
    await page.screenshot({ path: `${pictures}/revoke-${scheme}-390.png` })
    await page.setViewportSize(viewport)
    if (scheme === 'dark') await dialog.getByRole('checkbox').uncheck()
    await confirm(page, 'Revoke key', undefined)
    const locked = scheme === 'light' ? ' 1 card locked.' : ''
    await found(page).getByText(`agent-shopping is revoked.${locked}`, { exact: true }).waitFor()
    await row.getByText('Revoked').waitFor()
    t.equal(await row.getByRole('button', { name: 'Revoke' }).count(), 0)
    const status = scheme === 'light' ? 'locked' : 'active'
    const { body } = await send('/user/v1/cards', { headers: bearer(root.token) })
    t.match(body.data['cards'], [{ status }])
    await found(page).getByText('What operators did', { exact: true }).waitFor()
    t.match(
      await found(page).innerText(),
      new RegExp(`keys revoke\\s+${keyId} \\(agent-shopping\\) by Ana: leaked, ticket 7[^]*keys pause`),
    )
    t.same(faults, { reports: [], foreign: [], errors: [] })
    await page.context().close()
  })

t.test('an account is frozen by the keyboard, after a reason, and unfrozen', async t => {
  const { root } = await newOwner()
  const user = cardUser(send, root.token)
  const pay = () =>
    user.write('/withdrawals', {
      amountCents: 2000,
      destination: { currency: 'usdc', network: 'base', address: root.address },
    })
  const { page, faults } = await unlocked()
  await find(page, root.address)
  await found(page).getByRole('button', { name: 'Freeze account' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await checkState(t, page, 'freeze dialog')
  await dialog.getByRole('button', { name: 'Freeze account' }).click()
  t.ok(await dialog.isVisible(), 'without who and why nothing is done')
  t.equal((await pay()).status, 200)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await found(page).getByRole('button', { name: 'Freeze account' }).click()
  await confirm(page, 'Freeze account')
  await found(page).getByText('The account is frozen: nothing leaves it.').waitFor()
  t.match(await page.locator(':focus').innerText(), 'The account is frozen', 'the outcome has the focus')
  await found(page)
    .getByText(/^Frozen since .* UTC: nothing leaves this account\./)
    .waitFor()
  t.match(await pay(), { status: 403, body: { rule: 'account_locked' } })
  await checkState(t, page, 'frozen account')
  await picture(page, 'frozen')
  await found(page).getByRole('button', { name: 'Unfreeze' }).click()
  await confirm(page, 'Unfreeze', undefined)
  await found(page).getByText('The account may pay again.').waitFor()
  t.equal((await pay()).status, 200)
  t.match(await found(page).innerText(), /accounts unfreeze\s+unfrozen by Ana: leaked, ticket 7/)
  await found(page).getByRole('button', { name: 'Close' }).click()
  t.equal(await found(page).innerText(), '')
  t.same(faults, { reports: [], foreign: [], errors: [] })
  await page.context().close()
})

t.test('a request opens with its decision and leads to its account; digits list accounts', async t => {
  const first = await newOwner('first')
  const second = await newOwner('second')
  await db.query(`update gw_cards set last4 = '0042' where id in ($1, $2)`, [first.card, second.card])
  const { page, faults } = await unlocked()
  await find(page, first.requestId)
  await found(page).getByText('One request has this id').waitFor()
  await found(page).getByRole('button', { name: 'Refused · limit per payment' }).click()
  await page.getByRole('dialog').getByText(first.requestId).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await checkState(t, page, 'found request')
  await found(page).getByRole('button', { name: 'Open account' }).click()
  await rowOf(page, 'first').first().waitFor()
  await rowOf(page, 'first').first().getByRole('button', { name: 'Requests' }).click()
  await page.getByText('Only requests of key first').waitFor()

  await find(page, '0042')
  await found(page).getByText('2 accounts have a card that ends in 0042').waitFor()
  t.match(await found(page).innerText(), /•••• 0042, active/)
  await checkState(t, page, 'several accounts')
  await picture(page, 'several')
  await rowOf(page, second.root.address.toLowerCase()).getByRole('button', { name: 'Open account' }).click()
  await rowOf(page, 'second').first().waitFor()

  await find(page, `0x${'1'.repeat(40)}`)
  await found(page).getByText('No account has signed in with this wallet.').waitFor()
  await found(page)
    .getByText(/^A whole key text or a key id, a wallet, /)
    .waitFor()
  await checkState(t, page, 'nothing found')
  t.same(faults, { reports: [], foreign: [], errors: [] })
  await page.context().close()
})
