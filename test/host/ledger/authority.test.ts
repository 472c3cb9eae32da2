import assert from 'node:assert/strict'
import { manualClock } from '@gatewright/kernel/testing'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { holds } from '../../harness/holds.ts'
import { bearer, bootstrapUser, openTestHost, type HttpResponse } from '../../harness/host.ts'
import { moneyUser, payinOf, type MoneyUser } from '../../reference-host/harness/money.ts'
import { inlined } from '../../harness/openapi.ts'
import {
  CapModel,
  overspent,
  type Chain,
  type Charge,
  type MoneyPolicy,
  type Payment,
} from './authority-model.ts'

/** The runs cross midnight into another month. */
const NOON = Date.UTC(2026, 0, 31, 12)
const clock = manualClock(NOON)
const host = await openTestHost(t, { RATE_LIMITS: 'off' }, clock)
const stranger = await bootstrapUser(host.send, {}, clock.now())

/** The operations that request a pay-in, pay one, or move money in another way. */
const ASKING = ['subscriptions.payin', 'subscriptions.checkout'] as const
const PAYING = 'subscriptions.confirmBalance'
const SENDING = ['payments.create', 'bills.pay', 'withdrawals.create', 'cards.authorize'] as const
const PRICES = { basic: 500, pro: 2500 } as const

const cents = fc.constantFrom(0, 499, 500, 1000, 2500, 5000, 7500)
const policy: fc.Arbitrary<MoneyPolicy> = fc.record(
  {
    maxAuthAmountCents: fc.constantFrom(499, 500, 2500, 5000),
    dailySpendCapCents: cents,
    limits: fc.array(
      fc.record({
        operations: fc.subarray([...ASKING, PAYING, ...SENDING], { minLength: 1 }),
        window: fc.constantFrom('operation', 'day', 'month', 'total'),
        maxCents: cents,
      }),
      { minLength: 1, maxLength: 1 },
    ),
  },
  { requiredKeys: [] },
)
const who = fc.nat(2)
const plan = fc.constantFrom('basic', 'pro')
const step = fc.oneof(
  fc.record({ kind: fc.constant('ask'), who, plan, operation: fc.constantFrom(...ASKING) }),
  fc.record({ kind: fc.constant('pay'), who, n: fc.nat(9) }),
  fc.record({ kind: fc.constant('pay all at once'), who }),
  fc.record({
    kind: fc.constant('send'),
    who,
    operation: fc.constantFrom(...SENDING),
    // A withdrawal has at least 100 cents.
    amount: fc.constantFrom(100, 499, 500, 2500),
  }),
  fc.record({ kind: fc.constant('wait'), hours: fc.integer({ min: 1, max: 23 }) }),
)

interface Caller extends MoneyUser {
  readonly chain: Chain
}

/** The owner's root session, a session of a key below it, and a session of that key with one more policy. */
async function callers(policies: readonly MoneyPolicy[]): Promise<readonly Caller[]> {
  const links = policies.map(each => ({ policy: each }))
  const extra = { sessionTtlSeconds: 86_400, policy: policies[0] }
  const owner = await bootstrapUser(host.send, extra, clock.now())
  const made = await host.send('/user/v1/keys', {
    body: { policy: policies[1] },
    headers: bearer(owner.token),
  })
  const headers = { 'x-user-key': made.body['userApiKey'] as string }
  const mint = async (body: object): Promise<string> => {
    const minted = await host.send('/user/v1/sessions', { body: { ttlSeconds: 86_400, ...body }, headers })
    return minted.body['sessionToken'] as string
  }
  const tokens = [owner.token, await mint({}), await mint({ policy: policies[2] })]
  return tokens.map((token, n) => ({ ...moneyUser(host.send, { token }), chain: links.slice(0, n + 1) }))
}

/** An open pay-in, with what its hold added to the counters of its requester. */
interface Open {
  readonly id: string
  readonly operation: string
  readonly cents: number
  readonly charge: Charge
}

async function payNewBill({ write }: Caller, amountCents: number): Promise<HttpResponse> {
  const { body } = await write('/bills', { payee: 'City Power', amountCents, dueAt: '2026-02-01' })
  return write(`/bills/${(body.data['bill'] as { id: string }).id}/pay`, {})
}

/** The card of each caller. */
const cards = new WeakMap<Caller, string>()
async function payByCard(caller: Caller, amountCents: number): Promise<HttpResponse> {
  const known = cards.get(caller)
  const cardId = known ?? ((await caller.write('/cards', {})).body.data['card'] as { id: string }).id
  cards.set(caller, cardId)
  return caller.write('/sandbox/authorizations', { cardId, amountCents })
}

const OUTWARD: Record<
  (typeof SENDING)[number],
  (caller: Caller, amountCents: number) => Promise<HttpResponse>
> = {
  'payments.create': ({ write }, amountCents) =>
    write('/payments', { to: { walletAddress: stranger.address }, amountCents }),
  'bills.pay': payNewBill,
  'withdrawals.create': ({ write }, amountCents) => {
    const destination = { currency: 'usdc', network: 'base', address: `0x${'ab'.repeat(20)}` }
    return write('/withdrawals', { amountCents, destination })
  },
  'cards.authorize': payByCard,
}

/** Whether money left. Throws unless a policy is why it did not. */
function isPaid({ status, body }: HttpResponse): boolean {
  const authorization = body.data?.['authorization'] as { status: string; declineReason: string } | undefined
  if (authorization?.status === 'declined') {
    assert.equal(authorization.declineReason, 'policy_blocked')
    return false
  }
  if (status !== 200) assert.equal(body['error'], 'policy_blocked', JSON.stringify(body))
  return status === 200
}

/** One account in the model. */
class Account {
  readonly #caps = new CapModel()
  readonly #open: Open[] = []
  readonly payments: Payment[] = []

  async ask(caller: Caller, operation: (typeof ASKING)[number], name: keyof typeof PRICES): Promise<void> {
    const path = operation === 'subscriptions.checkout' ? '/checkout' : '/payin'
    const response = await caller.write(`/subscriptions${path}`, { plan: name, method: 'balance' })
    const charge = this.#caps.reserve(caller.chain, [operation], PRICES[name], clock.now())
    assert.equal(response.status, charge ? 200 : 403, JSON.stringify(response.body))
    if (charge) this.#open.push({ id: payinOf(response).id, operation, cents: PRICES[name], charge })
  }

  /** Pays a pay-in. The requester's hold is released even when it counted against the payer too. */
  async pay(caller: Caller, n: number): Promise<void> {
    const [payin] = this.#open.splice(n % this.#open.length, 1)
    if (!payin) return
    const response = await caller.write('/subscriptions/payin/confirm-balance', { payinId: payin.id })
    this.#caps.release(payin.charge)
    const operations = [PAYING, payin.operation]
    const charge = this.#caps.reserve(caller.chain, operations, payin.cents, clock.now())
    assert.equal(response.status, charge ? 200 : 403, JSON.stringify(response.body))
    if (charge) this.#paid(caller, payin)
    else this.#restore(payin)
  }

  /** Pays everything that is open in parallel. The order is undefined; the total is not. */
  async payAll(caller: Caller): Promise<void> {
    const responses: [Open, HttpResponse][] = await Promise.all(
      this.#open.map(async payin => [
        payin,
        await caller.write('/subscriptions/payin/confirm-balance', { payinId: payin.id }),
      ]),
    )
    for (const [payin, { status }] of responses.filter(([, response]) => response.status === 200)) {
      assert.equal(status, 200)
      this.#caps.release(payin.charge)
      this.#open.splice(this.#open.indexOf(payin), 1)
    }
    for (const [payin] of responses.filter(([, response]) => response.status === 200)) {
      const operations = [PAYING, payin.operation]
      const charge = this.#caps.reserve(caller.chain, operations, payin.cents, clock.now())
      assert.ok(charge, 'together they fit under every cap')
      this.#paid(caller, payin)
    }
  }

  /** Moves money out in one request, or by a card that the caller has made. */
  async send(caller: Caller, operation: (typeof SENDING)[number], amountCents: number): Promise<void> {
    const response = await OUTWARD[operation](caller, amountCents)
    const charge = this.#caps.reserve(caller.chain, [operation], amountCents, clock.now())
    assert.equal(isPaid(response), charge !== undefined, JSON.stringify(response.body))
    if (charge)
      this.payments.push({
        chain: caller.chain,
        operations: [operation],
        cents: amountCents,
        at: clock.now(),
      })
  }

  #paid({ chain }: Caller, { operation, cents: amount }: Open): void {
    this.payments.push({ chain, operations: [PAYING, operation], cents: amount, at: clock.now() })
  }

  /** What a denial rolls back. */
  #restore(payin: Open): void {
    this.#caps.restore(payin.charge)
    this.#open.push(payin)
  }
}

t.test('the steps below include every financial write of the host', async t => {
  const { body } = await host.send('/openapi.json')
  const described = inlined(body, body['paths'] as Record<string, Record<string, object>>)
  const paths = Object.values(described)
  const writes = paths
    .flatMap(item => Object.values(item) as { operationId: string; deprecated?: boolean; parameters?: [] }[])
    .filter(({ parameters = [] }) => JSON.stringify(parameters).toLowerCase().includes('idempotency-key'))
  const ids = writes.filter(({ deprecated }) => !deprecated).map(({ operationId }) => operationId)
  // Money comes in, stays the account's own, or does not move.
  const inward = [
    'deposits.create',
    'deposits.simulate',
    'subscriptions.confirm',
    'subscriptions.simulatePayment',
    'deposits.transfer',
  ]
  const still = [
    'contracts.create',
    'bills.create',
    'subscriptions.cancel',
    'folders.create',
    'cards.create',
    'cards.change',
    'cards.cancel',
    'cards.propose',
    'cards.execute',
  ]
  // What was held for a card is spent or given back: see the tests of authorizations.
  const ending = ['Clearing', 'Reversal', 'Refund'].map(each => `cards.simulate${each}`)
  const user = [...ASKING, PAYING, ...SENDING, ...inward, ...still, ...ending].map(id =>
    id === 'cards.authorize' ? 'cards.simulateAuthorization' : id,
  )
  // The same operations, for the session of a partner's user.
  const partner = ['deposits.create', 'deposits.simulate', 'withdrawals.create', 'cards.create', ...ending]
  const twins = [...partner, 'cards.simulateAuthorization'].map(id => `partner.${id}`)
  const known = [...user, ...twins].map(id => id.replaceAll('.', '_'))
  t.same(ids.toSorted(), known.toSorted(), 'a new one needs a step, or moves money in only')
})

t.test(
  'money that leaves an account is bounded by all policies of the triggering session, on its day',
  async t => {
    const property = fc.asyncProperty(
      fc.tuple(policy, policy, policy),
      fc.array(step, { minLength: 5, maxLength: 25 }),
      async (policies, steps) => {
        clock.set(NOON)
        const all = await callers(policies)
        await all[0]?.fund(1_000_000)
        const account = new Account()
        for (const each of steps) {
          const caller = all['who' in each ? each.who : 0] as Caller
          if (each.kind === 'ask') await account.ask(caller, each.operation, each.plan)
          else if (each.kind === 'pay') await account.pay(caller, each.n)
          else if (each.kind === 'send') await account.send(caller, each.operation, each.amount)
          else if (each.kind === 'wait')
            clock.set(Math.min(clock.now() + each.hours * 3_600_000, NOON + 86_399_000))
          else await account.payAll(caller)
        }
        assert.deepEqual(overspent(account.payments), [])
        const left = account.payments.reduce((sum, { cents: amount }) => sum + amount, 0)
        assert.equal(await all[0]?.balance(), 1_000_000 - left)
      },
    )
    await holds(t, property, { numRuns: randomCases(40) })
  },
)
