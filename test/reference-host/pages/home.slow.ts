import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { openPage, startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { bearer, bootstrapUser, startTestHost } from '../../harness/host.ts'
import * as internals from '../../harness/internals.ts'
import { checkState } from '../harness/pages/page-checks.ts'

const host = await startPageHost({ SERVICE_NAME: 'Acme Pay' })
t.teardown(() => host.close())
const browser = await startBrowser()
t.teardown(() => browser.close())

for (const colorScheme of ['light', 'dark'] as const) {
  await t.test(
    `says what this is, links the pages and shows the state of the stores, ${colorScheme}`,
    async t => {
      const { page, faults, kept } = await openPage(browser, `${host.url}/`, { colorScheme })
      t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'The payment API of Acme Pay')
      const main = page.getByRole('main')
      for (const [name, path] of [
        ['Console', '/helper'],
        ['API reference', '/docs'],
      ] as const)
        t.equal(await main.getByRole('link', { name }).getAttribute('href'), path)
      const pages = page.getByRole('navigation', { name: 'Pages' })
      // The page asks for the state of the host once it is shown.
      await pages.getByRole('link', { name: 'Ready' }).waitFor()
      t.same(await pages.getByRole('link').allInnerTexts(), ['Acme Pay', 'Home', 'Console', 'API', 'Ready'])
      t.equal(await pages.getByRole('link', { name: 'Home' }).getAttribute('aria-current'), 'page')
      const state = page.getByRole('region', { name: 'This host' })
      await state.getByText('Ready', { exact: true }).waitFor()
      t.match(
        await state.innerText(),
        /State\s+Ready\s+database\s+ok[^]*Version\s+0\.1\.0\s+Started\s+(just now|\d)/,
      )
      t.match(await page.getByRole('contentinfo').innerText(), /OPERATOR_PAGE=on/)
      t.same(faults, { reports: [], foreign: [], errors: [] })
      t.same(await kept(), [])
      await checkState(t, page, 'home')
      await page.context().close()
    },
  )
}

await t.test(
  'the command of the page asks for more than its key may spend, and for less after it',
  async t => {
    const sandbox = await startPageHost()
    t.teardown(() => sandbox.close())
    const { token } = await bootstrapUser(sandbox.send)
    const created = await sandbox.send('/user/v1/keys', {
      headers: bearer(token),
      // What the form proposes for an agent.
      body: { policy: { maxAuthAmountCents: 1000, dailySpendCapCents: 5000 } },
    })
    const { page, context } = await openPage(browser, `${sandbox.url}/`, { permissions: ['clipboard-write'] })
    await page.getByRole('button', { name: 'Copy the command', exact: true }).click()
    await page.getByRole('button', { name: 'Copy the command', exact: true }).getByText('Copied').waitFor()
    const command = (await page.locator('#pay-command').textContent()) ?? ''
    const run = async (text: string): Promise<object> => {
      const { stdout } = await promisify(execFile)('sh', ['-c', text], {
        env: { PATH: process.env['PATH'], GATEWRIGHT_KEY: String(created.body['userApiKey']) },
      })
      return JSON.parse(stdout) as object
    }
    t.match(await run(command), { error: 'policy_blocked', rule: 'maxAuthAmountCents' })
    const words = await page.getByRole('main').innerText()
    const [, dollars] = /Ask for (\d+) USD, and it passes/.exec(words) ?? []
    // Another idempotency key than in the same second before.
    const less = command.replace('6000', `${dollars}00`).replace('try-', 'less-')
    t.match(await run(less), { data: { payin: { amountCents: Number(dollars) * 100 } } })
    await context.close()
  },
)

await t.test(
  'says in its header and its panel that a store is down, or that the host does not answer',
  async t => {
    const { page, context } = await openPage(browser, `${host.url}/`)
    const pages = page.getByRole('navigation', { name: 'Pages' })
    const body = JSON.stringify({ status: 'not_ready', dependencies: { database: 'ok', redis: 'down' } })
    await context.route('**/readyz', route => route.fulfill({ status: 503, body }))
    await page.reload()
    await pages.getByRole('link', { name: 'Not ready' }).waitFor()
    t.match(
      await page.getByRole('region', { name: 'This host' }).innerText(),
      /Not ready\s+database\s+ok\s+redis\s+down/,
    )
    await context.unroute('**/readyz')
    await context.route('**/readyz', route => route.abort())
    await page.reload()
    await pages.getByRole('link', { name: 'No answer' }).waitFor()
    t.match(await page.getByRole('region', { name: 'This host' }).innerText(), /does not answer/)
    await context.close()
  },
)

await t.test('links no page that is off, and is not there without any', async t => {
  const some = await startPageHost({ DOCS_PAGE: 'off' })
  t.teardown(() => some.close())
  const { page } = await openPage(browser, `${some.url}/`)
  t.notOk(await page.getByRole('link', { name: 'API reference' }).isVisible())
  t.notOk(await page.getByRole('link', { name: 'API', exact: true }).isVisible())
  const { links } = (await (await fetch(some.url, { headers: { accept: 'application/json' } })).json()) as {
    links: object
  }
  t.same(Object.keys(links), ['helper', 'openapi', 'jwks', 'health', 'readiness'])
  await page.context().close()
  const none = await startTestHost({ HELPER_PAGE: 'off', DOCS_PAGE: 'off' })
  t.teardown(() => none.close())
  t.match(await none.send('/'), { status: 404 })
})

await t.test('returns JSON to those who prefer it, and says that the response varies', async t => {
  const ask = (accept: string) => fetch(`${host.url}/`, { headers: { accept } })
  const json = await ask('application/json')
  t.equal(json.headers.get('vary'), 'Accept')
  t.match(json.headers.get('content-type'), /^application\/json/)
  const at = (path: string): string => host.url + path
  t.same(await json.json(), {
    name: 'Acme Pay',
    environment: 'sandbox',
    links: {
      helper: at('/helper'),
      docs: at('/docs'),
      errors: at('/errors'),
      llms: at('/llms.txt'),
      openapi: at('/openapi.json'),
      jwks: at('/.well-known/jwks.json'),
      health: at('/healthz'),
      readiness: at('/readyz'),
    },
  })
  const html = await ask('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8')
  t.equal(html.headers.get('vary'), 'Accept')
  t.match(html.headers.get('content-type'), /^text\/html/)
})

await t.test('prefers the higher quality, then the more exact type, then HTML', async t => {
  const cases: readonly (readonly [accept: string | undefined, json: boolean])[] = [
    [undefined, false],
    ['*/*', false],
    ['application/json', true],
    ['application/json, text/plain, */*', true],
    ['text/html;q=0.5, application/json;q=0.4', false],
    ['text/html;q=0.4, application/json;q=0.5', true],
    ['application/*', true],
    ['application/json;q=0, */*', false],
    ['text/*;q=0.9, */*', true],
    ['TEXT/HTML, APPLICATION/JSON', false],
    ['application/json; q=x', false],
    ['', false],
  ]
  for (const [accept, json] of cases) t.equal(internals.prefersJson(accept), json, `${accept}`)
})

for (const colorScheme of ['light', 'dark'] as const) {
  await t.test(
    `shows browsers a page with links for an address that nothing has, ${colorScheme}`,
    async t => {
      const { page, faults } = await openPage(browser, `${host.url}/helpr`, { colorScheme })
      t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Nothing is at this address')
      for (const [name, path] of [
        ['Console', '/helper'],
        ['API reference', '/docs'],
        ['OpenAPI document', '/openapi.json'],
      ] as const)
        t.equal(await page.getByRole('main').getByRole('link', { name }).getAttribute('href'), path)
      await checkState(t, page, 'not found')
      t.same(faults, { reports: [], foreign: [], errors: [] })
      await page.context().close()
    },
  )
}

await t.test('sends that page with 404, and only to those who read and prefer HTML', async t => {
  const html = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }
  const page = await fetch(`${host.url}/user/v1/nothing`, html)
  t.match(page, { status: 404 })
  t.match(page.headers.get('content-type'), /^text\/html/)
  t.match(page.headers.get('content-security-policy'), /default-src 'none'/)
  t.equal(page.headers.get('vary'), 'Accept')
  t.match(page.headers.get('x-request-id'), /^[\da-f-]{36}$/)
  const head = await fetch(`${host.url}/nothing`, { ...html, method: 'HEAD' })
  t.match(head, { status: 404 })
  t.equal(await head.text(), '')
  const programs: readonly (readonly [path: string, init: RequestInit, status: number])[] = [
    ['/nothing', {}, 404],
    ['/nothing', { headers: { accept: 'application/json' } }, 404],
    ['/nothing', { headers: { accept: 'application/json, text/html' } }, 404],
    ['/nothing', { headers: { accept: 'text/html;q=0' } }, 404],
    ['/nothing', { headers: { accept: 'text/*' } }, 404],
    ['/nothing', { ...html, method: 'POST' }, 404],
    ['/user/v1/keys', html, 401],
    ['/user/v1/bootstrap', html, 405],
  ]
  for (const [path, init, status] of programs) {
    const response = await fetch(host.url + path, init)
    t.equal(response.status, status, path)
    t.match(response.headers.get('content-type'), /^application\/json/, JSON.stringify(init))
  }
  const none = await startTestHost({ HELPER_PAGE: 'off', DOCS_PAGE: 'off' })
  t.teardown(() => none.close())
  const response = await fetch(`${none.url}/nothing`, html)
  t.match(response.headers.get('content-type'), /^application\/json/)
})
