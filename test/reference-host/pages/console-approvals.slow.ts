// What the console shows of payments that wait for the owner, and what its decisions do.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startBrowser, startPageHost } from '../../harness/browser/browser.ts'
import { bearer } from '../../harness/host.ts'
import { keyBelow } from '../harness/card-payments.ts'
import { newMoneyUser } from '../harness/money.ts'
import { testWallet } from '../harness/pages/browser-wallets.ts'
import { programOf } from '../harness/pages/console-page.ts'
import { heading, openHelper, pick, press, shows } from '../harness/pages/helper-page.ts'
import { checkState } from '../harness/pages/page-checks.ts'

const host = await startPageHost({ RATE_LIMITS: 'off' })
const browser = await startBrowser()
t.teardown(async () => {
  await browser.close()
  await host.close()
})

t.test('the address of a refusal opens the payments that wait; one is approved and one denied', async t => {
  const wallet = testWallet()
  const owner = await programOf(host, wallet)
  const shop = await newMoneyUser(host.send)
  await owner.fund(100_000)
  const agent = await keyBelow(host.send, owner.token, { approveAboveCents: 5000 })
  const pay = (amountCents: number, key: string) =>
    host.send('/user/v1/payments', {
      body: { to: { walletAddress: shop.address }, amountCents },
      headers: { ...bearer(agent.token), 'idempotency-key': key },
    })
  const [dear, dearer] = [randomUUID(), randomUUID()]
  const { body } = await pay(6000, dear)
  await pay(7000, dearer)

  // The host does not know the port that the system has chosen for it.
  const { pathname, hash } = new URL(String(body['approveUrl']))
  const { page, faults } = await openHelper(browser, `${host.url}${pathname}${hash}`, [wallet])
  await pick(page, wallet.name)
  await press(page, 'Sign in')
  await heading(page, 'Approvals')
  const rowOf = (text: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: text })
  const first = rowOf('Payment of 60.00 USD')
  await first.waitFor()
  const text = await first.innerText()
  t.match(text, shop.address)
  t.match(text, agent.keyId.slice(-6))
  t.match(text, /Until in 5\d minutes/)
  await checkState(t, page, 'payments that wait')

  await first.getByRole('button', { name: 'Approve' }).click()
  await press(page, 'Cancel')
  t.match(
    await pay(6000, dear),
    { status: 403, body: { error: 'approval_required' } },
    'nothing was approved',
  )
  await first.getByRole('button', { name: 'Approve' }).click()
  await press(page, 'Approve payment')
  await first.getByText('Approved, not paid yet').waitFor()
  t.match(await pay(6000, dear), { status: 200 })

  await rowOf('Payment of 70.00 USD').getByRole('button', { name: 'Deny' }).click()
  await press(page, 'Deny payment')
  await shows(page, 'Nothing waits for you.')
  t.match(await pay(7000, dearer), { status: 403, body: { error: 'approval_denied' } })
  t.same(faults, { reports: [], foreign: [], errors: [] })
})
