import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { testWallet, type TestWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost, type OpenPage } from '../../harness/browser/browser.ts'
import {
  heading,
  openHelper,
  pick,
  pollCli,
  press,
  shows,
  startCli,
  typeCode,
} from '../harness/pages/helper-page.ts'
import { bearer, request } from '../../harness/host.ts'
import { copyText } from '../../harness/browser/in-page/watch.ts'

const host = await startPageHost()
t.teardown(() => host.close())
const browser = await startBrowser()
t.teardown(() => browser.close())

/** Opens the page for a request and goes on to the code. */
async function check(url: string, wallet: TestWallet = testWallet()): Promise<OpenPage> {
  const opened = await openHelper(browser, url, [wallet])
  await pick(opened.page, wallet.name)
  await heading(opened.page, 'Does this come from you?')
  return opened
}

t.test('says that codes have no vowels when a typed letter is left out', async t => {
  const { url } = await startCli(host.url)
  const { page } = await check(url)
  await page.locator('.code-box').first().focus()
  await page.keyboard.type('BA')
  t.match(await page.locator('#code-wrong').innerText(), /Codes have no vowels/)
  await page.keyboard.type('C')
  t.equal(await page.locator('#code-wrong').innerText(), '')
  t.same(
    await page
      .locator('.code-box')
      .evaluateAll(boxes => boxes.slice(0, 3).map(box => (box as unknown as { value: string }).value)),
    ['B', 'C', ''],
  )
})

t.test('signs in a command line that polls, with the code typed from its terminal', async t => {
  const { requestToken, code, url } = await startCli(host.url)
  const polled = pollCli(host.url, requestToken)
  const wallet = testWallet()
  const { page, faults, kept, addresses } = await check(url, wallet)
  t.match(await page.getByRole('main').innerText(), /“gw”[^]*127\.0\.0\.1/)
  t.notMatch(await page.content(), code.replace('-', ''), 'the code is not on the page')
  await typeCode(page, code.toLowerCase())
  await page.keyboard.press('Enter')
  await heading(page, 'Go back to your terminal')
  t.match(wallet.texts, [new RegExp(`^Request ID: ${code.replace('-', '')}$`, 'm')])

  const { status, body } = await polled
  t.match(
    { status, body },
    { status: 200, body: { session: { address: wallet.account.address.toLowerCase() } } },
  )
  const key = await host.send('/identity/user-api-keys', {
    headers: bearer(body['token'] as string),
    body: {},
  })
  t.equal(key.status, 200)
  t.same(faults, { reports: [], foreign: [], errors: [] })
  t.same(await kept(), [])
  t.same(new Set(addresses), new Set([url]))
  t.match(url, /#request=[0-9a-f]{32}$/)
})

t.test('says what the key may do, and a person who lowers it gives that key and no other', async t => {
  const policy = { dailySpendCapCents: 4000, maxAuthAmountCents: 1500 }
  const { requestToken, code, url } = await startCli(host.url, undefined, {
    label: 'agent',
    scopes: ['payments.write', 'keys.read'],
    policy,
  })
  const { page } = await check(url)
  const key = page.getByRole('region', { name: 'The key that it gets' })
  t.match(
    await key.innerText(),
    /“agent”[^]*May pay up to 15\.00 USD at once and 40\.00 USD a day\. May not withdraw, see card numbers or make keys\./,
  )
  t.notOk(await key.evaluate(({ classList }) => classList.contains('bad')))
  await key.getByText('Lower what it may spend').click()
  const daily = page.getByLabel('A day at most')
  await daily.fill('50')
  t.match(await key.innerText(), /Not lower than what binds now/)
  await daily.fill('x')
  await typeCode(page, code)
  await press(page, 'Approve sign-in')
  await shows(page, 'Type dollars')
  await daily.fill('12.50')
  t.match(await key.innerText(), /15\.00 USD at once and 12\.50 USD a day/)
  await press(page, 'Approve sign-in')
  await heading(page, 'Go back to your terminal')
  const { body } = await pollCli(host.url, requestToken)
  const headers = bearer(body['token'] as string)
  const made = await host.send('/identity/user-api-keys', { headers, body: {} })
  const secret = { 'x-user-key': made.body['userApiKey'] as string }
  const session = await host.send('/user/v1/sessions', { headers: secret, body: {} })
  const listed = await host.send('/user/v1/keys', { headers: bearer(session.body['sessionToken'] as string) })
  t.match(listed.body['keys'], [
    {
      label: 'agent',
      scopes: ['payments.write', 'keys.read'],
      policy: { ...policy, dailySpendCapCents: 1250 },
    },
  ])
})

t.test('warns in red of a request without limits, which the person may set', async t => {
  const { requestToken, code, url } = await startCli(host.url)
  const { page } = await check(url)
  const key = page.getByRole('region', { name: 'The key that it gets' })
  t.ok(await key.evaluate(({ classList }) => classList.contains('bad')))
  t.match(
    await key.innerText(),
    /May pay as much as your balance holds\. May withdraw, see card numbers and make keys\.[^]*It requested no limit/,
  )
  await page.getByLabel('At once at most').fill('5')
  await typeCode(page, code)
  await press(page, 'Approve sign-in')
  await heading(page, 'Go back to your terminal')
  const { body } = await pollCli(host.url, requestToken)
  t.match(body['session'], { key: { policy: { maxAuthAmountCents: 500 } } })
})

t.test('takes a pasted code, and no code or request token from the address', async t => {
  const { requestToken, code } = await startCli(host.url)
  const old = `${host.url}/auth/cli?request=${requestToken}&code=${code}`
  const { page, context } = await check(old)
  t.equal(page.url(), `${host.url}/helper`)
  t.equal(await page.getByLabel('Character 1 of 8').inputValue(), '')
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByLabel('Character 3 of 8').click()
  await page.evaluate(copyText, ` ${code}\n`)
  await page.keyboard.press('Control+V')
  await press(page, 'Approve sign-in')
  await heading(page, 'Go back to your terminal')
  t.match(await pollCli(host.url, requestToken), { status: 200 })
})

t.test('ends the request after five wrong codes', async t => {
  const { requestToken, code, url } = await startCli(host.url)
  const { page } = await check(url)
  const wrong = code.startsWith('BBBB') ? 'CCCC2222' : 'BBBB2222'
  await press(page, 'Approve sign-in')
  await shows(page, 'Type all 8 characters')
  for (let attempt = 1; attempt < 5; attempt++) {
    await typeCode(page, wrong)
    await press(page, 'Approve sign-in')
    await shows(page, 'This is not the code')
  }
  await typeCode(page, wrong)
  await press(page, 'Approve sign-in')
  await heading(page, 'Too many wrong codes')
  t.match(await pollCli(host.url, requestToken), { status: 404 })
  await page.reload()
  await heading(page, 'This sign-in is over')
})

t.test('asks every five seconds whether a request is over, however far the clock is ahead', async t => {
  const { requestToken, code, url } = await startCli(host.url)
  const wallet = testWallet()
  const { page } = await openHelper(browser, url, [wallet])
  await heading(page, 'Sign in a command line')
  await page.clock.install()
  await pick(page, wallet.name)
  await heading(page, 'Does this come from you?')
  let asked = 0
  page.on('request', request => request.url().endsWith('/auth/cli/inspect') && asked++)
  const askedAfter = async (ms: number): Promise<void> => {
    const response = page.waitForResponse('**/auth/cli/inspect')
    await page.clock.runFor(ms)
    await (await response).finished()
  }
  await askedAfter(600_000)
  for (const already of [1, 2, 3]) {
    await page.clock.runFor(4000)
    t.equal(asked, already, 'the host says that it is open')
    await askedAfter(1500)
  }
  await typeCode(page, code)
  await press(page, 'Deny')
  await heading(page, 'You denied the sign-in')
  t.match(await pollCli(host.url, requestToken), { status: 404 })
})

t.test('denies a request, which takes its code', async t => {
  const { requestToken, code, url } = await startCli(host.url)
  const { page } = await check(url)
  await press(page, 'Deny')
  await heading(page, 'You denied the sign-in')
  t.match(await page.getByRole('main').innerText(), /ends by itself/)
  const again = await check(url)
  await typeCode(again.page, code)
  await press(again.page, 'Deny')
  await heading(again.page, 'You denied the sign-in')
  const { status, body } = await pollCli(host.url, requestToken)
  t.match({ status, body }, { status: 404, body: { message: 'The request was denied.' } })
})

t.test('warns of a request from another network, and wants that confirmed by itself', async t => {
  const { requestToken, code, url } = await startCli(host.url, '203.0.113.9')
  const { page } = await check(url)
  t.match(
    await page.getByRole('main').innerText(),
    /began on another network[^]*203\.0\.113\.9|203\.0\.113\.9[^]*began on another network/,
  )
  await typeCode(page, code)
  await press(page, 'Approve sign-in')
  await shows(page, 'Confirm this before you approve')
  t.match(await request(host.url, '/auth/cli/poll', { body: { requestToken } }), { status: 202 })
  await page.getByLabel('I started it myself, on another network').check()
  await press(page, 'Approve sign-in')
  await heading(page, 'Go back to your terminal')
})

t.test(
  'a page of another origin cannot start a request from this network, and one of the host can',
  async t => {
    const startFrom = async (address: string): Promise<unknown> => {
      const context = await browser.newContext()
      t.teardown(() => context.close())
      const page = await context.newPage()
      await page.goto(address)
      return page.evaluate(async url => {
        const headers = { 'content-type': 'application/json' }
        const response = await fetch(url, { method: 'POST', headers, body: '{}' })
        return { status: response.status, body: await response.json() }
      }, `${host.url}/auth/cli/start`)
    }
    const other = createServer((_, response) => response.end('a page')).listen(0, '127.0.0.1')
    t.teardown(() => other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    t.match(await startFrom(`http://127.0.0.1:${port}`), { status: 403, body: { rule: 'cross_origin' } })
    t.match(await startFrom(`${host.url}/helper`), { status: 200 })
  },
)
