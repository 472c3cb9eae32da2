import t from 'tap'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { heading, openHelper, pick, press, shows } from '../harness/pages/helper-page.ts'
import { bearer, signedBootstrap } from '../../harness/host.ts'
import { kycBody } from '../harness/kyc.ts'

const host = await startPageHost()
t.teardown(() => host.close())
const browser = await startBrowser()
t.teardown(() => browser.close())

t.test('shows who signs in how far the identity check is, and leaves no session behind', async t => {
  const wallet = testWallet()
  const { page, faults, kept, addresses } = await openHelper(browser, `${host.url}/identity/kyc`, [wallet])
  const signIn = async (): Promise<void> => {
    await pick(page, wallet.name)
    await press(page, 'Sign in')
    await heading(page, 'Your identity check')
  }
  await signIn()
  await shows(page, 'Not begun')
  t.equal(await page.getByRole('link', { name: 'Open my account' }).getAttribute('href'), '/helper')

  const account = wallet.account as Parameters<typeof signedBootstrap>[0]
  const { body } = await host.send('/user/v1/bootstrap', { body: await signedBootstrap(account) })
  const headers = bearer(body['sessionToken'] as string)
  await host.send('/user/v1/kyc', { headers, body: kycBody('Verification') })
  await press(page, 'Sign in again to refresh')
  await signIn()
  await shows(page, 'Waits for you')
  await shows(page, 'This host checks nobody')
  await host.send('/user/v1/sandbox/kyc', { headers, body: { status: 'approved' } })
  await press(page, 'Sign in again to refresh')
  await signIn()
  await shows(page, 'Approved')

  const sessions = async (): Promise<unknown[]> =>
    (await host.send('/user/v1/sessions', { headers })).body.data['sessions'] as unknown[]
  // The page shows the status while it still ends its session.
  let open = await sessions()
  while (open.length > 1) open = await sessions()
  t.equal(open.length, 1, 'that of the bootstrap')
  t.same(faults, { reports: [], foreign: [], errors: [] })
  t.same(await kept(), [])
  t.same(new Set(addresses), new Set([`${host.url}/helper#kyc`]))
})
