import { manualClock } from '@gatewright/kernel/testing'
import { readFileSync, readdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { concatHex, encodeAbiParameters, type Hex } from 'viem'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { openPage, startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { contractsOf } from '../../harness/chain/contracts.ts'
import { startEvm, transact } from '../../harness/chain/evm.ts'
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
import { newWallet } from '../../harness/host.ts'
import { firstPaint } from '../../harness/browser/in-page/watch.ts'

const browser = await startBrowser()
t.teardown(() => browser.close())

t.test('says what has expired: the request, the text to sign', async t => {
  const clock = manualClock(Date.now())
  const host = await startPageHost({}, clock)
  t.teardown(() => host.close())
  const wallet = testWallet()
  const started = await startCli(host.url)
  const { page } = await openHelper(browser, started.url, [wallet])
  await pick(page, wallet.name)
  clock.advance(600_000)
  await typeCode(page, started.code)
  await press(page, 'Approve sign-in')
  await shows(page, 'Start again in your terminal')
  t.match(await pollCli(host.url, started.requestToken), { status: 404 })

  await press(page, 'Sign in here instead')
  await pick(page, wallet.name)
  wallet.errorFor = method => {
    if (method === 'personal_sign') clock.advance(300_000)
    return undefined
  }
  // The page's own clock says whether the text was too old, so it goes on with the host's.
  await page.clock.setFixedTime(Date.now() + 1_000_000)
  await press(page, 'Sign in')
  await heading(page, 'The text to sign is too old')
  wallet.errorFor = () => undefined
  await press(page, 'Try again')
  await heading(page, 'Overview')
})

t.test('shows that a request is over while the page waits for its code', async t => {
  const host = await startPageHost()
  t.teardown(() => host.close())
  const started = await startCli(host.url)
  const wallet = testWallet()
  const { page } = await openHelper(browser, started.url, [wallet])
  await page.clock.install()
  await pick(page, wallet.name)
  await heading(page, 'Does this come from you?')
  t.same(await page.locator('dl.facts dt').allInnerTexts(), ['Program', 'From', 'Requested', 'Your account'])
  await page.route('**/auth/cli/inspect', route =>
    route.fulfill({ status: 404, json: { error: 'challenge_not_found' } }),
  )
  await page.clock.fastForward(700_000)
  await heading(page, 'This sign-in is over')
})

t.test('signs a contract wallet in on its chain, and says so when it is on another', async t => {
  const chain = await startEvm()
  t.teardown(() => chain.stop())
  const host = await startPageHost({ RPC_URLS: `${chain.chainId}=${chain.url}` })
  t.teardown(() => host.close())
  const owner = newWallet()
  const code = contractsOf('test/signature-verifier/contracts/Wallets.sol')['OwnedWallet'] as Hex
  const data = concatHex([code, encodeAbiParameters([{ type: 'address' }], [owner.address])])
  const { contractAddress } = await transact(chain.url, { data })
  const account = { address: contractAddress, signMessage: owner.signMessage }
  const wallet = testWallet('Safe', { account })
  const { page, faults } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await pick(page, wallet.name)
  await press(page, 'Sign in')
  await heading(page, 'The signature was not accepted')
  await shows(page, 'It is on chain 1 now')
  wallet.chainId = chain.chainId
  await press(page, 'Try again')
  await heading(page, 'Overview')
  t.match(wallet.texts.at(-1), `Chain ID: ${chain.chainId}\n`)
  t.same(faults, { reports: [], foreign: [], errors: [] })
})

t.test('can be used by keyboard alone', async t => {
  const host = await startPageHost()
  t.teardown(() => host.close())
  const wallet = testWallet()
  const { page } = await openHelper(browser, `${host.url}/helper`, [wallet])
  await page.getByRole('list', { name: 'Wallets' }).getByRole('button').waitFor()
  const keys = async (...names: string[]): Promise<void> => {
    for (const name of names) await page.keyboard.press(name)
  }
  const tabTo = async (name: string): Promise<void> => {
    for (let tabs = 0; tabs < 20; tabs++) {
      await keys('Tab')
      if ((await page.locator(':focus').innerText()).includes(name)) return
    }
    throw new Error(`no way by Tab to ${name}`)
  }
  await tabTo(wallet.name)
  await keys('Enter')
  await heading(page, 'Sign in with this account')
  await keys('Tab')
  t.match(await page.locator(':focus').innerText(), wallet.account.address, 'the whole address on focus')
  await keys('Tab', 'Enter')
  await heading(page, 'Overview')
  await tabTo('Keys')
  await keys('Enter')
  await heading(page, 'Keys')
  await keys('Tab', 'Enter')
  await heading(page, 'Create a key')
  await keys('Tab')
  await page.keyboard.type('by keyboard')
  await keys('Tab', 'ArrowDown')
  t.ok(await page.getByLabel('Agent with an allowance').isChecked())
  await keys('Tab')
  await page.keyboard.type('20')
  await keys('Enter')
  await heading(page, 'Your new key')
})

t.test('weighs at most 70 kB compressed, and paints first without its script', async t => {
  const host = await startPageHost()
  t.teardown(() => host.close())
  const folder = 'packages/reference-host/dist/browser'
  const assets = readdirSync(`${folder}/assets`).filter(name => /^helper[.-].*\.(?:js|css)$/.test(name))
  const files = [`${folder}/helper.html`, ...assets.map(name => `${folder}/assets/${name}`)]
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0)
  t.ok(bytes <= 70_000, `${bytes} bytes`)
  const paints: number[] = []
  for (let load = 0; load < 5; load++) {
    const { page, context } = await openPage(browser, `${host.url}/helper`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    paints.push((await page.evaluate(firstPaint)) ?? Number.NaN)
    await context.close()
  }
  const median = paints.toSorted((one, other) => one - other)[2]
  t.comment(`measured /helper: ${bytes} bytes gzip in total, first paint ${median} ms (median of 5)`)
})
