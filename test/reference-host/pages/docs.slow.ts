import type { Page } from 'playwright-core'
import t from 'tap'
import { openPage, startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { bootstrapUser, startTestHost } from '../../harness/host.ts'
import { checkState } from '../harness/pages/page-checks.ts'

const host = await startPageHost()
t.teardown(() => host.close())
const browser = await startBrowser()
t.teardown(() => browser.close())
const { tags } = (await (await fetch(`${host.url}/openapi.json`)).json()) as {
  tags: { 'x-displayName': string }[]
}

async function drawn(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1, name: 'Gatewright Sandbox' }).waitFor()
}

for (const colorScheme of ['light', 'dark'] as const) {
  await t.test(`shows every tag of the API description, ${colorScheme}`, async t => {
    const viewport = { width: 1280, height: 900 }
    const { page, faults, kept } = await openPage(browser, `${host.url}/docs`, { colorScheme, viewport })
    await drawn(page)
    const sidebar = page.locator('aside.t-doc__sidebar')
    t.ok(tags.length >= 20)
    for (const { 'x-displayName': name } of tags)
      t.ok(await sidebar.getByText(name, { exact: true }).first().isVisible(), `${name} is in the sidebar`)
    t.same(faults, { reports: [], foreign: [], errors: [] })
    t.same(await kept(), [])
    const words = await page.locator('body').innerText()
    t.match(words, `curl "${host.url}/user/v1/balances" -H "Authorization: Bearer $SESSION"`)
    t.notMatch(words, '{host}')
    await page.screenshot({ path: `build/screenshots/docs-introduction-${colorScheme}.png` })
    await checkState(t, page, 'docs')
    await sidebar.getByText('Sandbox', { exact: true }).first().click()
    await sidebar.getByText('Simulate a refund (partner)').first().waitFor()
    await page.context().close()
  })
}

await t.test('sends a request with a session that was pasted, and keeps it nowhere', async t => {
  const user = await bootstrapUser(host.send)
  const viewport = { width: 1280, height: 900 }
  const { page, faults, kept, addresses } = await openPage(browser, `${host.url}/docs`, { viewport })
  await drawn(page)
  await page.getByPlaceholder('Token').first().fill(user.token)
  const sidebar = page.locator('aside.t-doc__sidebar')
  await sidebar.getByText('API keys', { exact: true }).first().click()
  const operation = sidebar.getByRole('link', { name: 'List API keys' }).first()
  await operation.focus()
  await operation.press('Enter')
  const section = page.locator('section:focus')
  await section.waitFor()
  const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')
  t.equal(outline, 'none', 'no frame')
  t.equal(await section.getByText('X-Open-Responses').count(), 0, 'only the introduction has it')
  await page.getByRole('button', { name: 'Test Request (get /user/v1/keys)' }).first().click()
  const responded = page.waitForResponse(response => new URL(response.url()).pathname === '/user/v1/keys')
  await page.getByRole('button', { name: /^Send/ }).first().click()
  const reply = await responded
  t.equal(reply.status(), 200)
  t.equal(new URL(reply.url()).origin, host.url)
  t.notOk(reply.request().headers()['x-open-responses'], 'a field that nobody chose is not sent')
  await page.getByText('"userKeyId"').first().waitFor()
  t.same(faults, { reports: [], foreign: [], errors: [] })
  t.same(await kept(), [])
  t.notOk(addresses.some(address => address.includes(user.token)))
})

await t.test(
  'fills in the session of the console of this tab, and shows old paths only on request',
  async t => {
    const user = await bootstrapUser(host.send)
    const viewport = { width: 1280, height: 900 }
    const { page } = await openPage(browser, `${host.url}/helper`, { viewport })
    const session = {
      sessionToken: user.token,
      sessionId: 'of-this-test',
      expiresAt: new Date(Date.now() + 600_000).toISOString(),
      address: user.address,
      wallet: { name: 'Test', rdns: 'test' },
    }
    await page.evaluate(
      `sessionStorage.setItem('gatewright.console', ${JSON.stringify(JSON.stringify(session))})`,
    )
    await page.goto(`${host.url}/docs`)
    await drawn(page)
    t.equal(await page.getByPlaceholder('Token').first().inputValue(), user.token)
    t.equal(await page.getByText('/consumer/v1/bootstrap').count(), 0)
    await page.context().close()
  },
)

await t.test('asks for no credential where an operation needs none', async () => {
  const { page } = await openPage(browser, `${host.url}/docs`, { viewport: { width: 1280, height: 900 } })
  await drawn(page)
  await page.getByText('Create a key by a signed').first().click()
  await page
    .getByRole('button', { name: /Test Request/ })
    .first()
    .click()
  await page.getByRole('dialog').getByText('Optional').first().waitFor()
  await page.context().close()
})

await t.test(
  'shows its frame and a sentence before the library is there, and another way without scripts',
  async t => {
    const { page } = await openPage(browser, `${host.url}/docs`, { javaScriptEnabled: false })
    t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'API reference')
    t.equal(await page.getByRole('link', { name: '/openapi.json' }).getAttribute('href'), '/openapi.json')
  },
)

await t.test('allows what the library needs and no more, and serves it with an ETag', async t => {
  const document = await fetch(`${host.url}/docs`)
  t.equal(
    document.headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
      "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types vue default",
  )
  const [, script = ''] = /src="(\/assets\/scalar-[\w-]+\.js)"/.exec(await document.text()) ?? []
  const asset = await fetch(host.url + script)
  t.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  const tag = asset.headers.get('etag') as string
  t.equal((await fetch(host.url + script, { headers: { 'if-none-match': tag } })).status, 304)
})

await t.test('is not there with DOCS_PAGE=off', async t => {
  const without = await startTestHost({ DOCS_PAGE: 'off' })
  t.teardown(() => without.close())
  t.match(await without.send('/docs'), { status: 404 })
})
