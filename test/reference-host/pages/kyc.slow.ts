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

t.test('shows how far the identity check is in the session of the console, with one sign-in', async t => {
  const wallet = testWallet()
  const { page, faults, addresses } = await openHelper(browser, `${host.url}/identity/kyc`, [wallet])
  const failed: string[] = []
  page.on('response', response => {
    if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`)
  })
  await pick(page, wallet.name)
  await press(page, 'Sign in')
  await heading(page, 'Your identity check')
  await shows(page, 'Not begun')
  t.equal(await page.getByRole('link', { name: 'Open my account' }).getAttribute('href'), '/helper')

  const account = wallet.account as Parameters<typeof signedBootstrap>[0]
  const { body } = await host.send('/user/v1/bootstrap', { body: await signedBootstrap(account) })
  const headers = bearer(body['sessionToken'] as string)
  await host.send('/user/v1/kyc', { headers, body: kycBody('Verification') })
  await press(page, 'Refresh')
  await shows(page, 'Waits for you')
  await shows(page, 'This host checks nobody')
  t.same(new Set(addresses), new Set([`${host.url}/helper#kyc`]))
  await page.reload()
  await shows(page, 'Waits for you')
  await press(page, 'Approve my identity (sandbox)')
  await shows(page, 'Approved')
  t.equal(await page.getByRole('button', { name: 'Approve my identity (sandbox)' }).count(), 0)
  await page.getByRole('link', { name: 'Open my account' }).click()
  await heading(page, 'Overview')
  t.same(failed, [], 'no request failed')

  await page.goto(`${host.url}/helper#kyc`)
  await shows(page, 'Approved')
  const { body: listed } = await host.send('/user/v1/sessions', { headers })
  const sessions = listed.data['sessions'] as { sessionId: string; current: boolean }[]
  // The own session ends last: it authorizes the end of the others.
  const others = sessions.filter(({ current }) => !current).map(({ sessionId }) => sessionId)
  for (const sessionId of [...others, 'current']) {
    const { status } = await host.send(`/user/v1/sessions/${sessionId}`, { method: 'DELETE', headers })
    t.equal(status, 200, `the end of ${sessionId === 'current' ? 'the own session' : 'another session'}`)
  }
  // A guard knows the end of a session at the latest a second after it, and the ends of an account in their order.
  while ((await host.send('/user/v1/sessions', { headers })).status !== 401);
  await press(page, 'Refresh')
  await heading(page, 'Sign in')
  t.same(faults, { reports: [], foreign: [], errors: [] })
})

t.test('approves in a sandbox without an application', async t => {
  const wallet = testWallet()
  const { page, faults } = await openHelper(browser, `${host.url}/helper#kyc`, [wallet])
  await pick(page, wallet.name)
  await press(page, 'Sign in')
  await shows(page, 'Not begun')
  await press(page, 'Approve my identity (sandbox)')
  await shows(page, 'Approved')
  t.same(faults, { reports: [], foreign: [], errors: [] })
})
