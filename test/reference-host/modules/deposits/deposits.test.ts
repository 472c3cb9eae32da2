import { manualClock } from '@gatewright/kernel/testing'
import type { DepositProvider } from '#packages/reference-host/dist/providers/deposits/port.js'
import t, { type Test } from 'tap'
import { startTestHost, type HttpResponse } from '../../../harness/host.ts'
import { signedFields, WEBHOOK_SECRET } from '../../harness/kyc.ts'
import { fundedPartnerUser, fundedUser, memberOf, type TransferUser } from '../../harness/transfers.ts'

const clock = manualClock(Date.now())
const host = await startTestHost(
  { RATE_LIMITS: 'off', PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET},other=${WEBHOOK_SECRET}` },
  clock,
)
t.teardown(() => host.close())
const USDC = { currency: 'usdc', network: 'base' }
const depositOf = (response: HttpResponse) => memberOf(response, 'deposit')

async function balanceOf(user: TransferUser): Promise<number> {
  const { body } = await user.read('/balances')
  return (body.data['balances'] as { availableCents: number }[])[0]?.availableCents as number
}
function report(
  data: object,
  { name = 'sandbox', id }: { name?: string; id?: string } = {},
): Promise<HttpResponse> {
  const body = JSON.stringify({ type: 'deposit.report', data })
  const headers = signedFields(body, { now: clock.now(), ...(id === undefined ? {} : { id }) })
  return host.send(`/providers/${name}/events`, { body, headers })
}
const denied = (t: Test, response: HttpResponse, field: string): void =>
  void t.match(response, { status: 400, body: { error: 'invalid_request', field } }, field)

t.test('credits play money as before, and distinguishes its body from a deposit of the provider', async t => {
  const user = await fundedUser(host, 0, { now: clock.now() })
  const made = await user.write('/deposits', { amountCents: 500, currency: 'USD' }, 'play-0001')
  t.match(depositOf(made), { status: 'completed', amountCents: 500, currency: 'USD' })
  t.same((await user.write('/deposits', { amountCents: 500, currency: 'USD' }, 'play-0001')).body, made.body)
  t.equal(await balanceOf(user), 500)
  denied(t, await user.write('/deposits', {}), 'amountCents')
  denied(t, await user.write('/deposits', { amountCents: 5, currency: 'EUR' }), 'network')
  denied(t, await user.write('/deposits', { amountCents: 5, network: 'base' }), 'currency')
  t.match((await user.read('/deposits?scope=all')).body.data, { deposits: [], nextCursor: null })
})

for (const surface of ['user', 'partner'] as const) {
  t.test(`opens, lists, reads and pays a deposit: ${surface}`, async t => {
    const user =
      surface === 'user' ? await fundedUser(host, 0, { now: clock.now() }) : await fundedPartnerUser(host, 0)
    const made = await user.write('/deposits', { ...USDC, currency: 'USDC', amount: 25 }, 'deposit-0001')
    const deposit = depositOf(made)
    t.match(deposit, {
      id: /^dep_/,
      contractId: null,
      fromCurrency: 'usdc',
      fromNetwork: 'base',
      chainId: 8453,
      minAmount: '1',
      maxAmount: '50000',
      depositAddress: /^0x[0-9a-f]{40}$/,
      payinExtraId: null,
      status: 'awaitingDeposit',
      creditedCents: 0,
      payments: [],
    })
    t.same(
      (await user.write('/deposits', { ...USDC, currency: 'USDC', amount: 25 }, 'deposit-0001')).body,
      made.body,
    )
    const other = depositOf(await user.write('/deposits', USDC))
    t.not(other['depositAddress'], deposit['depositAddress'])

    t.match(depositOf(await user.read(`/deposits/${deposit.id}`)), deposit)
    const paid = await user.write(`/sandbox/deposits/${deposit.id}/pay`, {}, 'payment-0001')
    t.match(depositOf(paid), {
      status: 'completed',
      creditedCents: 2500,
      payments: [{ creditedCents: 2500 }],
    })
    await user.write(`/sandbox/deposits/${deposit.id}/pay`, {}, 'payment-0001')
    const twice = await user.write(`/sandbox/deposits/${deposit.id}/pay`, { amount: '1.5' })
    t.match(depositOf(twice), {
      creditedCents: 2650,
      payments: [{ creditedCents: 2500 }, { creditedCents: 150 }],
    })

    const ids = async (query: string): Promise<string[]> =>
      ((await user.read(`/deposits${query}`)).body.data['deposits'] as { id: string }[]).map(each => each.id)
    t.same(await ids(''), [other.id], 'waits for money')
    t.same(await ids('?scope=all'), [other.id, deposit.id])
    const page = (await user.read('/deposits?scope=all&limit=1')).body.data
    t.same(await ids(`?scope=all&limit=1&cursor=${String(page['nextCursor'])}`), [deposit.id])
    denied(t, await user.read('/deposits?scope=some'), 'scope')
    for (const path of [`/deposits/dep_none`, `/sandbox/deposits/dep_none/pay`]) {
      const response = path.startsWith('/sandbox') ? await user.write(path, {}) : await user.read(path)
      t.match(response, { status: 404, body: { error: 'not_found' } })
    }
  })
}

t.test('denies assets and amounts that the provider does not take', async t => {
  const user = await fundedPartnerUser(host, 0)
  denied(t, await user.write('/deposits', { currency: 'doge', network: 'base' }), 'currency')
  denied(t, await user.write('/deposits', { ...USDC, amount: '0.99' }), 'amount')
  denied(t, await user.write('/deposits', { ...USDC, amount: 50_001 }), 'amount')
  denied(t, await user.write('/deposits', { ...USDC, amount: 0 }), 'amount')
  const tag = depositOf(await user.write('/deposits', { currency: 'xrp', network: 'ripple' }))
  t.match(tag, { payinExtraId: /^\d+$/, chainId: null, minAmount: '2' })
})

t.test('a payment below the minimum fails the deposit, and a later one is credited all the same', async t => {
  const user = await fundedUser(host, 0, { now: clock.now() })
  const { id } = depositOf(await user.write('/deposits', USDC))
  const pay = (amount: string): Promise<HttpResponse> => user.write(`/sandbox/deposits/${id}/pay`, { amount })
  t.match(depositOf(await pay('0.5')), { status: 'failed', creditedCents: 0 })
  t.equal(await balanceOf(user), 0)
  clock.advance(30 * 86_400_000)
  const later = await fundedUser(host, 0, { now: clock.now() })
  t.match(await later.write(`/sandbox/deposits/${id}/pay`, {}), { status: 404 }, 'of another account')
  const event = { id, status: 'completed', payments: [{ id: 'late', creditedCents: 700 }] }
  t.match(await report(event), { body: { data: { applied: true } } })
})

t.test('credits each payment id of a provider once, whatever deposit it names', async t => {
  const user = await fundedUser(host, 0, { now: clock.now() })
  const [one, two] = [
    depositOf(await user.write('/deposits', USDC)),
    depositOf(await user.write('/deposits', USDC)),
  ]
  const payments = [{ id: 'p1', creditedCents: 100 }]
  const seen = { id: one.id, status: 'processing', payments: [] }
  t.match(await report(seen), { body: { data: { applied: true } } })
  t.match(await report(seen), { body: { data: { applied: false } } })
  const all = Array.from({ length: 10 }, () => report({ id: one.id, status: 'completed', payments }))
  const applied = (await Promise.all(all)).filter(({ body }) => body.data['applied'] === true)
  t.equal(applied.length, 1)
  const notApplied = { status: 200, body: { data: { applied: false } } }
  t.match(
    await report({ id: two.id, status: 'completed', payments }),
    notApplied,
    'the id of another payment',
  )
  t.match(String(host.failures.splice(0)), new RegExp(`100 US cents to deposit ${two.id} was not credited`))
  t.match(depositOf(await user.read(`/deposits/${two.id}`)), { status: 'processing', creditedCents: 0 })
  const more = [...payments, { id: 'p2', creditedCents: 5 }]
  await report({ id: one.id, status: 'failed', payments: more })
  t.match(depositOf(await user.read(`/deposits/${one.id}`)), { status: 'completed', creditedCents: 105 })
  t.equal(await balanceOf(user), 105)
  t.match(await report({ ...seen, id: 'dep_none' }), { status: 404 })
  t.match(await report(seen, { name: 'other' }), { status: 404 })
  t.match(await report({ ...seen, payments: [{ id: 'p3', creditedCents: 0 }] }), { status: 400 })
  const { notifications } = (await user.read('/notifications')).body.data
  t.match(notifications, [{ kind: 'deposit.paid' }])
})

t.test('notifies account and operator once of a payment that has the id of another', async t => {
  const user = await fundedUser(host, 0, { now: clock.now() })
  const [one, two] = [
    depositOf(await user.write('/deposits', USDC)),
    depositOf(await user.write('/deposits', USDC)),
  ]
  const attention = async (): Promise<number> => {
    // Metrics are rendered once in some seconds.
    clock.advance(10_000)
    await host.chore('count rows with attention')
    await host.chore('count rows with attention')
    const metrics = await (await fetch(`${host.url}/metrics`)).text()
    return Number(/rows_with_attention\{kind="deposit"\} (\d+)/.exec(metrics)?.[1])
  }
  const before = await attention()
  const pay = (id: string, creditedCents: number): Promise<HttpResponse> =>
    report({ id, status: 'completed', payments: [{ id: `of-${one.id}`, creditedCents }] })
  await pay(one.id, 100)
  for (let repeat = 0; repeat < 2; repeat += 1)
    for (const [id, cents] of [
      [one.id, 150],
      [two.id, 100],
    ] as const)
      t.match(await pay(id, cents), { status: 200, body: { data: { applied: false } } })
  t.equal(await attention(), before + 2)
  t.equal(await balanceOf(user), 100)
  const { notifications } = (await user.read('/notifications?limit=4')).body.data
  const kinds = (notifications as { kind: string }[]).map(({ kind }) => kind)
  t.match(String(host.failures.splice(0)), new RegExp(`payment of-${one.id} of 150 US cents .* not credited`))
  t.equal(kinds.filter(kind => kind === 'deposit.payment_conflict').length, 2, 'each once')
  const both = [
    { id: `of-${one.id}`, creditedCents: 150 },
    { id: `new-${one.id}`, creditedCents: 7 },
  ]
  t.match(await report({ id: one.id, status: 'completed', payments: both }), {
    body: { data: { applied: true } },
  })
  t.equal(await balanceOf(user), 107, 'the other payments of a report are credited')
})

t.test('says what can be deposited, and for how much, only to partners', async t => {
  const user = await fundedPartnerUser(host, 0)
  const assets = async (query: string): Promise<unknown[]> =>
    (await user.read(`/deposits/assets${query}`)).body.data['assets'] as unknown[]
  t.match(await assets('?q=USD&limit=1'), [{ ticker: 'usdc', icon: null, networks: [{ id: 'base' }, {}] }])
  t.equal((await assets('')).length, 4)
  denied(t, await user.read('/deposits/assets?limit=101'), 'limit')
  denied(t, await user.read(`/deposits/assets?q=${'x'.repeat(41)}`), 'q')
  const range = memberOf(await user.write('/deposits/range', USDC), 'range')
  t.match(range, { fromCurrency: 'usdc', toCurrency: 'usd', minAmount: '1', maxAmount: '50000' })
  const estimate = (amount: unknown, more: object = {}): Promise<HttpResponse> =>
    user.write('/deposits/estimate', { currency: 'btc', network: 'bitcoin', amount, ...more })
  const crypto = memberOf(await estimate('0.01'), 'estimate')
  t.match(crypto, { quotedAmount: '0.01', estimatedToAmount: '600.00', feeCents: 0, rateId: 'fixed' })
  const usd = memberOf(await estimate(12.5, { amountCurrency: 'usd' }), 'estimate')
  t.match(usd, { quotedAmount: '12.5', quotedAmountCurrency: 'usd', estimatedToAmount: '12.50' })
  for (const amount of ['0.00001', 2, 0]) denied(t, await estimate(amount), 'amount')
  denied(t, await estimate('1.234', { amountCurrency: 'usd' }), 'amount')
})

t.test(
  'opens nothing at the provider that the host denies: above 20 that wait, or outside the range',
  async t => {
    let opened = 0
    const limits = { minAmount: '1', maxAmount: '9' }
    const counting: DepositProvider = {
      name: 'counting',
      assets: async () => [],
      quote: async () => ({
        ...limits,
        minAmountCents: 100,
        maxAmountCents: 900,
        toAmount: '1',
        feeCents: 0,
        rateId: null,
        validUntil: null,
      }),
      async open(id) {
        opened += 1
        return { ...limits, reference: id, depositAddress: `address-of-${id}`, extraId: null, chainId: null }
      },
      find: async () => undefined,
    }
    const own = await startTestHost({ RATE_LIMITS: 'off' }, clock, { deposits: counting })
    t.teardown(() => own.close())
    const user = await fundedUser(own, 0, { now: clock.now() })
    for (const amount of ['0.5', '10'])
      denied(t, await user.write('/deposits', { ...USDC, amount }), 'amount')
    t.equal(opened, 0)
    for (let n = 0; n < 20; n += 1)
      await user.write('/deposits', { ...USDC, amount: '5' }, `waiting-${n}-key`)
    const full = { status: 403, body: { rule: 'max_deposits' } }
    for (let more = 0; more < 3; more += 1) t.match(await user.write('/deposits', USDC), full)
    t.equal(opened, 20)
    t.equal(
      (await user.write('/deposits', { ...USDC, amount: '5' }, 'waiting-3-key')).status,
      200,
      'a repeat',
    )
  },
)

t.test(
  'shows no address that breaks the rule of its network, and opens the deposit once it is right',
  async t => {
    const valid = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
    const replies = [
      { depositAddress: valid.replace('w508', 'w509'), chainId: null },
      { depositAddress: '0x52908400098527886E0F7030069857D2E4169Ee7', chainId: 1 },
      { depositAddress: valid, chainId: null },
    ]
    const mistyping: DepositProvider = {
      name: 'mistyping',
      assets: async () => [],
      quote: async () => ({ rejected: 'no price' }),
      async open(id) {
        const { depositAddress, chainId } = replies[0] as (typeof replies)[number]
        return { reference: id, depositAddress, chainId, extraId: null, minAmount: '1', maxAmount: null }
      },
      find: async () => undefined,
    }
    const own = await startTestHost({ RATE_LIMITS: 'off' }, clock, { deposits: mistyping })
    t.teardown(() => own.close())
    const user = await fundedUser(own, 0, { now: clock.now() })
    const open = () => user.write('/deposits', { currency: 'btc', network: 'bitcoin' }, 'mistyped-0001')
    while (replies.length > 1) {
      t.match(await open(), { status: 503, body: { error: 'service_unavailable' } })
      t.match(own.failures.pop(), {
        code: 'ERR_PROVIDER_REPLY',
        message: /mistyping opened deposit dep_\S+ at what is no address of bitcoin/,
      })
      t.same((await user.read('/deposits?scope=all')).body.data['deposits'], [])
      replies.shift()
    }
    t.match(depositOf(await open()), { depositAddress: valid })
  },
)

t.test('has onboarding requirements for partners, and for users where they are configured', async t => {
  const strict = await startTestHost({ ONBOARDING_GATES: 'on' })
  t.teardown(() => strict.close())
  const user = await fundedUser(strict, 100)
  t.equal(await balanceOf(user), 100, 'play money has no requirements')
  t.match(await user.write('/deposits', USDC, 'strict-0001'), { status: 403, body: { rule: 'kyc_required' } })
})

t.test('asks the provider for 24 hours after the last change', async t => {
  const user = await fundedUser(host, 0, { now: clock.now() })
  await user.write('/deposits', USDC)
  for (let round = 0; round < 4; round += 1) {
    clock.advance(600_000)
    await host.chore('run jobs')
  }
  t.same(host.failures, [])
})

t.test('shows the last 20 payments of a deposit, and the sum of all', async t => {
  const user = await fundedUser(host, 0, { now: clock.now() })
  const { id } = depositOf(await user.write('/deposits', USDC))
  const shown = async () => {
    const { body } = await user.read('/deposits?scope=all')
    const [listed] = body.data['deposits'] as {
      creditedCents: number
      payments: { creditedCents: number }[]
    }[]
    t.same(depositOf(await user.read(`/deposits/${id}`)), listed)
    return listed
  }
  for (let n = 1; n <= 20; n++) await user.write(`/sandbox/deposits/${id}/pay`, { amount: String(n + 1) })
  const cents = (await shown())?.payments.map(each => each.creditedCents) ?? []
  t.equal(cents.length, 20)
  await user.write(`/sandbox/deposits/${id}/pay`, { amount: '50' })
  const after = await shown()
  const last = after?.creditedCents as number
  t.equal(after?.payments.length, 20)
  t.same(after?.payments.map(each => each.creditedCents).slice(0, 19), cents.slice(1))
  t.equal(last, cents.reduce((sum, each) => sum + each, 0) + (after?.payments.at(-1)?.creditedCents ?? 0))
})
