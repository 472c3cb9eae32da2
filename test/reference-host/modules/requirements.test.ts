// Which writes of moves, payments and bills have onboarding requirements, with both settings.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { bearer, openTestHost, type HttpResponse, type TestHost } from '../../harness/host.ts'
import { newMoneyUser, type MoneyUser } from '../harness/money.ts'

async function setUp(t: Test, ONBOARDING_GATES: 'on' | 'partner') {
  const host = await openTestHost(t, { RATE_LIMITS: 'off', ONBOARDING_GATES })
  const [user, receiver] = [await newMoneyUser(host.send), await newMoneyUser(host.send)]
  await user.fund(5000)
  const noted = await user.write('/bills', { payee: 'City Power', amountCents: 10, dueAt: '2030-01-01' })
  const billId = (noted.body.data['bill'] as { id: string }).id
  const pending = [
    ['/payments', { to: { walletAddress: receiver.address }, amountCents: 10 }],
    [`/bills/${billId}/pay`, {}],
  ] as const
  return { host, user, pending, post: poster(host, user.token) }
}
const poster =
  ({ send }: TestHost, token: string) =>
  (path: string, body: object): Promise<HttpResponse> =>
    send(`/user/v1${path}`, { body, headers: bearer(token) })
const closed = (rule: string): object => ({ status: 403, body: { error: 'policy_blocked', rule } })

async function ungatedWork(t: Test, user: MoneyUser): Promise<void> {
  const made = await user.write('/contracts', {})
  t.equal(made.status, 200)
  const toContractId = (made.body.data['contract'] as { id: string }).id
  const move = { amountCents: 1, fromContractId: null, toContractId }
  t.equal((await user.write('/deposits/transfer', move)).status, 200)
  const bill = { payee: 'a', amountCents: 1, dueAt: '2030-01-01' }
  t.equal((await user.write('/bills', bill)).status, 200)
  for (const path of ['/transactions', '/balances', '/contracts', '/payments', '/bills', '/tokens'])
    t.equal((await user.read(path)).status, 200, path)
}

t.test('on: payments and paying bills wait for identity and agreements; the same key then works', async t => {
  const { user, pending, post } = await setUp(t, 'on')
  const keys = pending.map(() => randomUUID())
  const all = async (expected: object): Promise<void> => {
    for (const [n, [path, body]] of pending.entries())
      t.match(await user.write(path, body, keys[n]), expected, path)
  }
  await all(closed('kyc_required'))
  await post('/sandbox/kyc', { status: 'approved' })
  await all(closed('agreements_required'))
  await ungatedWork(t, user)
  await post('/agreements', { accepted: true })
  await all({ status: 200 })
  await post('/sandbox/kyc', { status: 'locked' })
  await all({ status: 200 })
  for (const [path, body] of pending) t.match(await user.write(path, body), closed('account_locked'), path)
  await ungatedWork(t, user)
  t.equal(await user.balance(), 5000 - 10 - 10 - 2)
})

t.test('partner: users pay at once, unless the account is locked', async t => {
  const { user, pending, post } = await setUp(t, 'partner')
  const keys = pending.map(() => randomUUID())
  for (const [n, [path, body]] of pending.entries())
    t.match(await user.write(path, body, keys[n]), { status: 200 }, path)
  for (const status of ['locked', 'denied']) {
    await post('/sandbox/kyc', { status })
    for (const [n, [path, body]] of pending.entries()) {
      t.match(await user.write(path, body), closed('account_locked'), `${path} ${status}`)
      const replay = await user.write(path, body, keys[n])
      t.same([replay.status, replay.headers.get('idempotency-replayed')], [200, 'true'])
    }
  }
})
