import { manualClock } from '@gatewright/kernel/testing'
import type { DepositProvider } from '#packages/reference-host/dist/providers/deposits/port.js'
import t, { type Test } from 'tap'
import { openTestHost, type HttpResponse } from '../../../harness/host.ts'
import { signedFields, WEBHOOK_SECRET } from '../../harness/kyc.ts'
import { fundedPartnerUser, fundedUser, memberOf, type TransferUser } from '../../harness/transfers.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(
  t,
  { RATE_LIMITS: 'off', PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET},other=${WEBHOOK_SECRET}` },
  clock,
)
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
  })
}

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
    const own = await openTestHost(t, { RATE_LIMITS: 'off' }, clock, { deposits: mistyping })
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
