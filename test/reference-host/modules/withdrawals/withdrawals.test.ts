import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { openTestHost, type HttpResponse } from '../../../harness/host.ts'
import { signedFields, WEBHOOK_SECRET } from '../../harness/kyc.ts'
import {
  fundedPartnerUser,
  fundedUser,
  memberOf,
  OUTSIDE,
  withdrawalBody,
  type TransferUser,
} from '../../harness/transfers.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(
  t,
  { RATE_LIMITS: 'off', PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` },
  clock,
)
type Withdrawal = ReturnType<typeof memberOf>
const withdrawalOf = (response: HttpResponse): Withdrawal => memberOf(response, 'withdrawal')
const user = (cents: number, policy: object = {}): Promise<TransferUser> =>
  fundedUser(host, cents, { now: clock.now(), policy })

async function balanceOf(owner: TransferUser): Promise<number> {
  const { body } = await owner.read('/balances')
  return (body.data['balances'] as { availableCents: number }[])[0]?.availableCents as number
}
/** Runs the jobs after so much time. */
async function work(ms = 0): Promise<void> {
  clock.advance(ms)
  await host.chore('run jobs')
}
t.test('holds the money, hands it over, and ends with the fee and the transaction', async t => {
  const ann = await user(10_000)
  const made = await ann.write('/withdrawals', withdrawalBody(2500), 'withdraw-0001')
  const { id, ...first } = withdrawalOf(made)
  t.match(first, {
    status: 'pending',
    retryAfterSeconds: 1,
    attention: null,
    amountCents: 2500,
    feeCents: 50,
    destination: { currency: 'usdc', network: 'base', address: OUTSIDE, extraId: null },
    parameters: [],
    signature: null,
    execution: null,
    expiresAt: null,
    relay: null,
    txHash: null,
  })
  t.equal(await balanceOf(ann), 7500)
  await work()
  t.match(withdrawalOf(await ann.read(`/withdrawals/${id}`)), {
    status: 'ready',
    retryAfterSeconds: null,
    relay: { changeNowId: `sandbox-${id}`, payoutAddress: OUTSIDE, toCurrency: 'usdc', fromCurrency: 'usd' },
  })
  await work(5000)
  t.match(withdrawalOf(await ann.read(`/withdrawals/${id}`)), { status: 'completed', txHash: /^0x/ })
  t.equal(await balanceOf(ann), 7500)
  t.same((await ann.write('/withdrawals', withdrawalBody(2500), 'withdraw-0001')).body, made.body)
  const { notifications } = (await ann.read('/notifications')).body.data
  t.match(notifications, [
    { kind: 'withdrawal.completed' },
    { kind: 'withdrawal.ready' },
    { kind: 'withdrawal.pending' },
  ])

  clock.advance(86_400_001)
  const late = await user(0)
  t.match(await late.read(`/withdrawals/${id}`), { status: 404 }, 'not of another account')
})

t.test('of eight withdrawals at once, three pass a cap on withdrawals', async t => {
  const ann = await user(10_000, { dailyWithdrawalCapCents: 1000 })
  const many = await Promise.all(
    Array.from({ length: 8 }, () => ann.write('/withdrawals', withdrawalBody(300))),
  )
  t.equal(many.filter(({ status }) => status === 200).length, 3)
  t.equal(await balanceOf(ann), 9100)
})

t.test('applies a report of the provider once, and keeps one that contradicts it', async t => {
  const ann = await user(1000)
  const { id } = withdrawalOf(await ann.write('/withdrawals', withdrawalBody(1000)))
  const report = (status: string, of = id): Promise<HttpResponse> => {
    const data = { id: of, status, reason: null, txHash: null, paidCents: null, relay: null }
    const body = JSON.stringify({ type: 'withdrawal.report', data })
    return host.send('/providers/sandbox/events', { body, headers: signedFields(body, { now: clock.now() }) })
  }
  const applied = (yes: boolean): object => ({ status: 200, body: { data: { applied: yes } } })
  t.match(await report('completed'), applied(true))
  t.match(await report('completed'), applied(false))
  t.match(await report('failed'), applied(true))
  await host.chore('count rows with attention')
  const metrics = await (await fetch(`${host.url}/metrics`)).text()
  t.match(metrics, /gatewright_rows_with_attention\{kind="withdrawal"\} 1/)
  t.match(await report('ready', 'wd_none'), { status: 404 })
  t.match(await report('gone'), { status: 400 })
})

t.test('says what can be withdrawn to partners', async t => {
  const ann = await fundedPartnerUser(host, 0)
  t.match((await ann.read('/withdrawals/assets?q=xrp')).body.data, { assets: [{ ticker: 'xrp' }] })
})

t.test(
  'equal requests of a partner at once are one withdrawal, and a failed one is a stored 409',
  async t => {
    const ann = await fundedPartnerUser(host, 1_500_000)
    const body = withdrawalBody(1_000_001)
    const made = await Promise.all(Array.from({ length: 8 }, () => ann.write('/withdrawals', body)))
    t.equal(new Set(made.map(each => each.body.data['id'])).size, 1)
    t.equal(made.filter(each => each.body.data['repeated'] === false).length, 1)
    await work()
    const failed = await ann.write('/withdrawals', body, 'poll-of-failed')
    t.match(failed, { status: 409, body: { error: 'invalid_state' } })
    t.equal((await ann.write('/withdrawals', body, 'poll-of-failed')).status, 409)
    t.not((await ann.write('/withdrawals', body)).body.data['id'], made[0]?.body.data['id'])
  },
)
