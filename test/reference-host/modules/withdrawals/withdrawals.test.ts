import { manualClock } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { startTestHost, type HttpResponse } from '../../../harness/host.ts'
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
const host = await startTestHost(
  { RATE_LIMITS: 'off', PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` },
  clock,
)
t.teardown(() => host.close())
type Withdrawal = ReturnType<typeof memberOf>
const withdrawalOf = (response: HttpResponse): Withdrawal => memberOf(response, 'withdrawal')
const user = (cents: number, policy?: object): Promise<TransferUser> =>
  fundedUser(host, cents, { now: clock.now(), ...(policy ? { policy } : {}) })

async function balanceOf(owner: TransferUser): Promise<number> {
  const { body } = await owner.read('/balances')
  return (body.data['balances'] as { availableCents: number }[])[0]?.availableCents as number
}
/** Runs the jobs after so much time. */
async function work(ms = 0): Promise<void> {
  clock.advance(ms)
  await host.chore('run jobs')
}
function report(id: string, status: string, more: object = {}): Promise<HttpResponse> {
  const data = { id, status, reason: null, txHash: null, paidCents: null, relay: null, ...more }
  const body = JSON.stringify({ type: 'withdrawal.report', data })
  return host.send('/providers/sandbox/events', { body, headers: signedFields(body, { now: clock.now() }) })
}
const denied = (t: Test, response: HttpResponse, field: string): void =>
  void t.match(response, { status: 400, body: { error: 'invalid_request', field } }, field)

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

t.test('the same request after its record has expired returns the withdrawal as it is now', async t => {
  const ann = await user(10_000)
  const { id } = withdrawalOf(await ann.write('/withdrawals', withdrawalBody(300), 'withdraw-0002'))
  await work()
  await work(5000)
  clock.advance(86_390_000)
  await host.chore('collect garbage')
  const again = await ann.write('/withdrawals', withdrawalBody(300), 'withdraw-0002')
  if (again.status === 200) t.match(withdrawalOf(again), { id, status: /completed|pending/ })
})

t.test('two keys are two withdrawals of a user, listed newest first', async t => {
  const ann = await user(10_000)
  const one = withdrawalOf(await ann.write('/withdrawals', withdrawalBody(300)))
  const two = withdrawalOf(await ann.write('/withdrawals', withdrawalBody(300)))
  t.equal(await balanceOf(ann), 9400)
  const page = (await ann.read('/withdrawals?limit=1')).body.data
  t.match(page['withdrawals'], [{ id: two.id }])
  const rest = (await ann.read(`/withdrawals?limit=1&cursor=${String(page['nextCursor'])}`)).body.data
  t.match(rest, { withdrawals: [{ id: one.id }], nextCursor: null })
  await work()
  await work(5000)
})

t.test('gives money and caps back when the provider rejects it', async t => {
  const ann = await user(2_000_000, { dailyWithdrawalCapCents: 1_000_001 })
  const { id } = withdrawalOf(await ann.write('/withdrawals', withdrawalBody(1_000_001)))
  await work()
  t.match(withdrawalOf(await ann.read(`/withdrawals/${id}`)), { status: 'failed', reason: String })
  t.equal(await balanceOf(ann), 2_000_000)
  t.match(
    await ann.write('/withdrawals', withdrawalBody(1_000_000)),
    { status: 200 },
    'the whole cap is free',
  )
  await work()
  await work(5000)
})

t.test('keeps money and caps while nobody knows, and asks before it sends again', async t => {
  const ann = await user(3_000_000)
  const taken = withdrawalOf(await ann.write('/withdrawals', withdrawalBody(1_000_003)))
  const lost = withdrawalOf(await ann.write('/withdrawals', withdrawalBody(1_000_004)))
  const read = async ({ id }: Withdrawal): Promise<Withdrawal> =>
    withdrawalOf(await ann.read(`/withdrawals/${id}`))
  await work()
  for (const each of [taken, lost])
    t.match(await read(each), { status: 'pending', attention: 'outcome_unknown' })
  t.equal(await balanceOf(ann), 3_000_000 - 2_000_007)
  await host.chore('count rows with attention')
  const metrics = await (await fetch(`${host.url}/metrics`)).text()
  t.match(metrics, /gatewright_rows_with_attention\{kind="withdrawal"\} 2/)
  await work(5000)
  t.match(await read(taken), { status: 'completed', attention: null })
  t.match(await read(lost), { status: 'ready', attention: null }, 'sent again')
  await work(30_000)
  t.match(await read(lost), { status: 'completed' })
  t.match(host.failures.splice(0), [{ code: 'ERR_PROVIDER_UNAVAILABLE' }, {}])
})

t.test('counts under caps on withdrawals, under spend caps and under limits', async t => {
  for (const [policy, rule] of [
    [{ dailyWithdrawalCapCents: 500 }, 'dailyWithdrawalCapCents'],
    [{ dailySpendCapCents: 500 }, 'dailySpendCapCents'],
    [{ maxAuthAmountCents: 400 }, 'maxAuthAmountCents'],
    [{ limits: [{ operations: ['withdrawals.*'], maxCents: 500, window: 'total' }] }, 'limits'],
    [{ denyOperations: ['withdrawals.create'] }, 'denyOperations'],
  ] as const) {
    const ann = await user(10_000, policy)
    if (rule !== 'denyOperations')
      t.equal((await ann.write('/withdrawals', withdrawalBody(400))).status, 200, rule)
    t.match(await ann.write('/withdrawals', withdrawalBody(401)), { status: 403, body: { rule } }, rule)
    t.equal(await balanceOf(ann), rule === 'denyOperations' ? 10_000 : 9600)
  }
  const ann = await user(10_000, { dailyWithdrawalCapCents: 1000 })
  const many = await Promise.all(
    Array.from({ length: 8 }, () => ann.write('/withdrawals', withdrawalBody(300))),
  )
  t.equal(many.filter(({ status }) => status === 200).length, 3, 'eight at once pass three times')
  t.equal(await balanceOf(ann), 9100)
  await work()
  await work(5000)
})

t.test('denies what the balance does not hold, without storing the denial', async t => {
  const ann = await user(200)
  t.match(await ann.write('/withdrawals', withdrawalBody(300), 'withdraw-poor'), {
    status: 400,
    body: { field: 'amountCents', error: 'insufficient_balance', availableCents: 200 },
  })
  await ann.write('/deposits', { amountCents: 100 })
  t.match(await ann.write('/withdrawals', withdrawalBody(300), 'withdraw-poor'), { status: 200 })
  t.equal(await balanceOf(ann), 0)
})

t.test('checks amount and destination', async t => {
  const ann = await user(10_000)
  const to = async (field: string, extra: object, amountCents = 300): Promise<void> =>
    denied(t, await ann.write('/withdrawals', withdrawalBody(amountCents, extra)), field)
  for (const amount of [99, 5_000_001])
    t.match(await ann.write('/withdrawals', withdrawalBody(amount)), {
      status: 400,
      body: { field: 'amountCents', minAmountCents: 100, maxAmountCents: 5_000_000 },
    })
  await to('destination.currency', { currency: 'doge' })
  await to('destination.network', { network: 'bitcoin' })
  for (const address of [
    OUTSIDE.slice(0, -1),
    `0x${'0'.repeat(40)}`,
    '0x52908400098527886E0F7030069857D2E4169eE7',
    'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  ])
    await to('destination.address', { address })
  await to('destination.address', { currency: 'btc', network: 'bitcoin', address: OUTSIDE })
  await to('destination.extraId', { extraId: '7' })
  const mine = memberOf(await ann.write('/deposits', { currency: 'usdc', network: 'base' }), 'deposit')
  const address = String(mine['depositAddress'])
  await to('destination.address', { address })
  await to('destination.address', { address: address.toUpperCase().replace('0X', '0x') })
  const xrp = {
    currency: 'XRP',
    network: 'ripple',
    address: 'rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe',
    extraId: '7',
  }
  t.match(withdrawalOf(await ann.write('/withdrawals', withdrawalBody(300, xrp))), {
    destination: { ...xrp, currency: 'xrp' },
  })
  await work()
  await work(5000)
})

t.test('applies reports of the provider, and keeps those that contradict the final state', async t => {
  const ann = await user(10_000)
  const make = async (): Promise<string> =>
    withdrawalOf(await ann.write('/withdrawals', withdrawalBody(1000))).id
  const applied = async (yes: boolean, ...event: Parameters<typeof report>): Promise<void> =>
    void t.match(await report(...event), { status: 200, body: { data: { applied: yes } } }, event[1])
  const read = async (id: string): Promise<Withdrawal> => withdrawalOf(await ann.read(`/withdrawals/${id}`))
  const done = await make()
  await work()
  await applied(false, done, 'ready')
  await applied(false, done, 'pending')
  await applied(true, done, 'completed', { txHash: '0xabc' })
  await applied(false, done, 'completed')
  await applied(true, done, 'failed')
  await applied(false, done, 'failed')
  t.match(await read(done), { status: 'completed', attention: 'returned', txHash: '0xabc' })
  const failed = await make()
  await applied(true, failed, 'failed', { reason: 'No such address.' })
  t.match(await read(failed), { status: 'failed', reason: 'No such address.' })
  await applied(true, failed, 'completed')
  t.match(await read(failed), { status: 'failed', attention: 'paid_after_failure' })
  const more = await make()
  await applied(true, more, 'completed', { paidCents: 960 })
  t.match(await read(more), { status: 'completed', attention: 'amount_differs' })
  t.equal(await balanceOf(ann), 8000)
  t.match(await report('wd_none', 'ready'), { status: 404 })
  t.match(await report(done, 'gone'), { status: 400 })
})

t.test('says what can be withdrawn, and for how much, to partners with either scope', async t => {
  const ann = await fundedPartnerUser(host, 0)
  const destination = { currency: 'XRP', network: 'ripple' }
  t.match((await ann.read('/withdrawals/assets?q=xrp')).body.data, { assets: [{ ticker: 'xrp' }] })
  t.match(memberOf(await ann.write('/withdrawals/range', { destination }), 'range'), {
    fromCurrency: 'usd',
    toCurrency: 'xrp',
    toNetwork: 'ripple',
    minAmount: '2',
    maxAmount: '100000',
    minAmountCents: 100,
    maxAmountCents: 5_000_000,
    destinationSupportsExtraId: true,
  })
  const estimate = (amountCents: number, more: object = {}): Promise<HttpResponse> =>
    ann.write('/withdrawals/estimate', { amountCents, destination: { ...destination, ...more } })
  t.match(memberOf(await estimate(1050, { extraId: '7' }), 'estimate'), {
    fromAmount: '10.50',
    fromAmountCents: 1050,
    estimatedToAmount: '20',
    feeCents: 50,
    rateId: 'fixed',
    validUntil: null,
    destinationExtraId: '7',
  })
  denied(t, await estimate(99), 'amountCents')
  denied(
    t,
    await ann.write('/withdrawals/range', { destination: { currency: 'a', network: 'b' } }),
    'destination.currency',
  )
})
