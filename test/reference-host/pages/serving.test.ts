import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { openPage, startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { startTestHost } from '../../harness/host.ts'

const host = await startPageHost({ SERVICE_NAME: 'Pay & <Play>' })
t.teardown(() => host.close())
const browser = await startBrowser()
t.teardown(() => browser.close())

t.test('opens without a report, an error or a request to another host, and keeps nothing', async t => {
  const { page, faults, kept } = await openPage(browser, `${host.url}/helper`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  t.equal(await page.getByRole('navigation').getByRole('link').first().innerText(), 'Pay & <Play>')
  t.match(await page.getByRole('complementary').innerText(), /Sandbox/)
  t.same(faults, { reports: [], foreign: [], errors: [] })
  t.same(await kept(), [])
})

t.test('shows its frame and a sentence before any script has run', async t => {
  const { page } = await openPage(browser, `${host.url}/helper`, { javaScriptEnabled: false })
  t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Sign in')
  t.match(await page.getByRole('main').innerText(), /needs JavaScript/)
})

t.test('is not shown inside the page of another origin', async t => {
  const outer = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<iframe src="${host.url}/helper"></iframe>`)
  }).listen(0, '127.0.0.1')
  t.teardown(() => outer.close())
  await new Promise(resolve => outer.once('listening', resolve))
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`http://127.0.0.1:${(outer.address() as AddressInfo).port}/`)
  const [, inner] = page.frames()
  t.match(inner?.url(), /^chrome-error:/)
})

t.test('sends the security header fields with documents and assets', async t => {
  const document = await fetch(`${host.url}/helper`)
  const html = await document.text()
  t.match(html, /<title>Sign in · Pay &amp; &lt;Play&gt;<\/title>/)
  const [, script] = /src="(\/assets\/helper-\w+\.js)"/.exec(html) ?? []
  const asset = await fetch(`${host.url}${script}`)
  for (const { headers } of [document, asset]) {
    t.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    t.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
    t.equal(headers.get('cross-origin-resource-policy'), 'same-origin')
    t.equal(headers.get('referrer-policy'), 'no-referrer')
    t.equal(headers.get('x-content-type-options'), 'nosniff')
    t.match(headers.get('permissions-policy'), /camera=\(\).*usb=\(\)/)
    t.notOk(headers.has('access-control-allow-origin'))
  }
  t.equal(document.headers.get('cache-control'), 'no-store')
  t.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  const tag = asset.headers.get('etag') as string
  const again = await fetch(`${host.url}${script}`, { headers: { 'if-none-match': tag } })
  t.match(again, { status: 304 })
  const plain = await fetch(`${host.url}${script}`, { headers: { 'accept-encoding': 'identity' } })
  t.equal(await plain.text(), await asset.text(), 'and compresses them')
  t.not(plain.headers.get('etag'), tag)
})

t.test('responds to HEAD, and denies other methods', async t => {
  t.match(await fetch(`${host.url}/helper`, { method: 'HEAD' }), { status: 200 })
  const denied = await fetch(`${host.url}/helper`, { method: 'POST' })
  t.equal(denied.status, 405)
  t.equal(denied.headers.get('allow'), 'GET, HEAD')
})

t.test('is not there with HELPER_PAGE=off', async t => {
  const without = await startTestHost({ HELPER_PAGE: 'off' })
  t.teardown(() => without.close())
  t.match(await without.send('/helper'), { status: 404, body: { error: 'not_found' } })
})
