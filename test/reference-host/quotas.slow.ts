// How many open rows an account may have is counted while its row is locked: requests at once do not pass it, on either database.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { bootstrapUser, startTestHost } from '../harness/host.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { moneyUser, type MoneyUser } from './harness/money.ts'
import { withdrawalBody } from './harness/transfers.ts'

/** A quota: what fills it, how many rows it allows, and the body of the n-th row. */
interface Quota {
  readonly rule: string
  readonly most: number
  readonly path: string
  body(n: number): object
}

const QUOTAS: readonly Quota[] = [
  { rule: 'max_cards', most: 50, path: '/cards', body: () => ({}) },
  { rule: 'max_folders', most: 100, path: '/folders', body: n => ({ name: `folder ${n}` }) },
  { rule: 'max_contracts', most: 20, path: '/contracts', body: n => ({ label: `contract ${n}` }) },
  {
    rule: 'max_bills',
    most: 100,
    path: '/bills',
    body: n => ({ payee: `payee ${n}`, amountCents: 100, dueAt: '2099-11-30' }),
  },
  { rule: 'max_deposits', most: 20, path: '/deposits', body: () => ({ currency: 'usdc', network: 'base' }) },
  {
    rule: 'max_payins',
    most: 100,
    path: '/subscriptions/payin',
    body: n => ({ amountCents: 100 + n }),
  },
  { rule: 'max_withdrawals', most: 20, path: '/withdrawals', body: n => withdrawalBody(100 + n) },
]
/** Requests that are in flight when the quota is nearly full, and how many of them still fit. */
const [AT_ONCE, STILL_FIT] = [20, 5]

for (const stores of ['embedded', 'postgres'] as const) {
  t.test(`requests at once do not pass a quota: ${stores}`, async t => {
    const { env, drop } = await hostStoresEnv(stores)
    // The clock does not advance, so that no deposit or withdrawal ends meanwhile.
    const host = await startTestHost({ ...env, RATE_LIMITS: 'off' }, manualClock(Date.now()))
    t.teardown(async () => {
      await host.close()
      await drop()
    })
    for (const quota of QUOTAS) {
      await t.test(quota.rule, async t => {
        const { token } = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 })
        const user = moneyUser(host.send, { token })
        await user.fund(100_000)
        await holds(t, user, quota)
      })
    }
    t.same(host.failures, [])
  })
}

/** Fills a quota up to five, makes 20 requests at once, and expects that five of them pass. */
async function holds(t: Test, user: MoneyUser, { rule, most, path, body }: Quota): Promise<void> {
  const make = (n: number) => user.write(path, body(n), randomUUID())
  for (let n = 0; n < most - STILL_FIT; n++) {
    const { status, body: response } = await make(n)
    assert.equal(status, 200, JSON.stringify(response))
  }
  const responses = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => make(most + n)))
  const passed = responses.filter(({ status }) => status === 200)
  const denied = responses.filter(({ status }) => status === 403)
  t.equal(passed.length, STILL_FIT, 'as many pass as still fit')
  t.equal(denied.length, AT_ONCE - STILL_FIT)
  for (const response of denied) t.match(response.body, { error: 'policy_blocked', rule })
  t.match(await make(0), { status: 403, body: { rule } }, 'one more is one too many')
}
