// Card payments without HTTP: every order of what networks, merchants, owners and operators do, against a model.
import assert from 'node:assert/strict'
import { rows } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import { events } from '@gatewright/host'
import fc from 'fast-check'
import { cardBench, prepareCardBench, type CardBench } from '../card-bench.ts'
import { onBothDatabases } from '../../../../harness/databases/host-tables.ts'
import * as internals from '../../../../harness/internals.ts'
import t from 'tap'
import { randomCases } from '../../../../harness/random-cases.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Some hours before midnight and some days before the end of a month. */
const START = Date.UTC(2026, 0, 28, 20)
const START_CENTS = 4000
const KEY_DAY = 1500
const SESSION_TOTAL = 2000

/** The table of the contract, written out independently of the code. */
const MOVES = ['null authorized', 'null declined', 'authorized cleared', 'authorized reversed']
const SAME = [
  'authorized authorized incremented',
  'authorized authorized increment_declined',
  'cleared cleared increment_declined',
  'reversed reversed increment_declined',
  'declined declined increment_declined',
  'cleared cleared refunded',
  'cleared cleared excess',
  'reversed reversed excess',
  // A refund that comes before the clearing.
  'authorized authorized excess',
  'declined declined excess',
]

const lineage = { keyLineage: { accountId: 'owner', lineageId: 'key' } }
const session = [
  {
    id: 'session',
    document: { limits: [{ operations: ['cards.*'], window: 'total', maxCents: SESSION_TOTAL }] },
  },
]
const CARDS = [
  { id: 'window', ...lineage, limit: { amountCents: 900, frequency: 'per24HourPeriod' } },
  { id: 'session', ...lineage, sessionPolicies: session },
  { id: 'single', ...lineage, limit: { amountCents: 400, frequency: 'perAuthorization' } },
  { id: 'ever', limit: { amountCents: 1200, frequency: 'allTime' } },
  { id: 'once', autoCancelAfterAuth: true },
] as const

const amount = fc.constantFrom(1, 99, 250, 400, 401, 600, 900)
const at = fc.nat(12)
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      card: fc.nat(CARDS.length - 1),
      amount,
      name: fc.constantFrom('Shop', 'Shop', 'Shop', 'Decline FRAUD', 'decline merchant'),
      currency: fc.constantFrom('USD', 'USD', 'USD', 'USD', 'EUR'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('raise' as const),
      at,
      amount,
      currency: fc.constantFrom('USD', 'USD', 'USD', 'EUR'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('clear' as const), at, amount }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reverse' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refund' as const), at, amount, id: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('again' as const), at, amount }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 20 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lock' as const), card: fc.nat(CARDS.length - 1) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** What the model knows of a payment. */
interface PaymentModel {
  readonly id: string
  readonly card: (typeof CARDS)[number]
  readonly name: Extract<Step, { kind: 'pay' }>['name']
  /** The amount of the authorization, and then of each approved increment, with what cleared of it. */
  readonly parts: { readonly amount: number; readonly at: number; cleared: number }[]
  status: string
  cleared: number
  refunded: number
  excess: number
}

/** What must come of steps. */
class Model {
  readonly payments: PaymentModel[] = []
  readonly locked = new Set<string>()
  readonly canceled = new Set<string>()
  readonly refunds = new Set<string>()

  /** What payments hold or have cleared, each part by when it was made. */
  spent(those: (payment: PaymentModel, at: number) => boolean): number {
    return this.payments.reduce((sum, payment) => {
      const parts = payment.parts.filter(({ at }) => those(payment, at))
      const of = ({ amount, cleared }: (typeof parts)[number]): number =>
        payment.status === 'authorized' ? amount : cleared
      return sum + parts.reduce((total, part) => total + of(part), 0)
    }, 0)
  }

  balance(): number {
    return this.payments.reduce((left, each) => left + each.refunded, START_CENTS - this.spent(() => true))
  }

  /** Why an amount is declined: of a new payment, or of an increment of `raised`. */
  decline(
    { card, amount, name, currency }: Omit<Extract<Step, { kind: 'pay' }>, 'kind'>,
    now: number,
    raised?: PaymentModel,
  ): string | undefined {
    if (raised && raised.status !== 'authorized') return 'authorization_not_open'
    const { id, ...about } = CARDS[card] as (typeof CARDS)[number]
    if (currency !== 'USD') return 'currency_not_supported'
    if (this.canceled.has(id)) return 'card_canceled'
    if (this.locked.has(id)) return 'card_locked'
    if ('limit' in about) {
      const { frequency } = about.limit
      const since = { per24HourPeriod: now - DAY_MS, allTime: -1 }
      const counted =
        frequency === 'perAuthorization'
          ? this.spent(each => each === raised)
          : this.spent((each, at) => each.card.id === id && at > since[frequency])
      if (counted + amount > about.limit.amountCents) return 'card_limit_exceeded'
    }
    const today = (each: PaymentModel, at: number): boolean =>
      'keyLineage' in each.card && Math.floor(at / DAY_MS) === Math.floor(now / DAY_MS)
    if ('keyLineage' in about && this.spent(today) + amount > KEY_DAY) return 'policy_blocked'
    const ofSession = (each: PaymentModel): boolean => each.card.id === 'session'
    if (id === 'session' && this.spent(ofSession) + amount > SESSION_TOTAL) return 'policy_blocked'
    if (amount > this.balance()) return 'insufficient_funds'
    return { 'Decline FRAUD': 'suspected_fraud', 'decline merchant': 'merchant_blocked' }[name as string]
  }
}

async function openBench(
  dialect: 'postgres' | 'sqlite',
  db: Parameters<typeof cardBench>[0],
  accountId: string,
) {
  const clock = manualClock(START)
  const bench = cardBench(db, dialect, clock)
  bench.keys.set('key', [{ id: `policy-${accountId}`, document: { dailySpendCapCents: KEY_DAY } }])
  await bench.addAccount(accountId, START_CENTS)
  for (const card of CARDS)
    await bench.addCard(accountId, {
      ...card,
      sessionPolicies: [],
      ...card,
      id: `${accountId}-${card.id}`,
    })
  return { clock, bench }
}

let runs = 0
let increments = 0
let moves = 0
onBothDatabases(
  'takes only listed moves and decides by one order of reasons, whatever happens in what order',
  async (t, { dialect, dbs: [db] }) => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
      runs += 1
      const account = `account-${runs}`
      const { clock, bench } = await openBench(dialect, db, account)
      const model = new Model()
      for (const each of steps)
        await take(bench, model, { account, now: clock.now() }, each, ms => clock.advance(ms))
      assert.deepEqual(await bench.faults(), [])
      assert.equal(await bench.balance(account), model.balance())
      for (const { id, status, parts, cleared, refunded, excess } of model.payments) {
        const row = await bench.store.find(db, id)
        assert.ok(row)
        assert.deepEqual(
          [row.status, row.amountCents, row.clearedCents, row.refundedCents, row.excessCents],
          [status, parts.reduce((sum, part) => sum + part.amount, 0), cleared, refunded, excess],
        )
        assert.equal(row.attention !== null, excess > 0)
        assert.equal(
          row.incrementedCents,
          parts.slice(1).reduce((sum, part) => sum + part.amount, 0),
        )
        const history = await events.history(db, account, { kind: 'authorization', id })
        for (const { from, to, cause } of history)
          assert.ok(
            MOVES.includes(`${from} ${to}`) || SAME.includes(`${from} ${to} ${cause}`),
            `${from} ${to} ${cause}`,
          )
        assert.deepEqual(
          history.map(({ number }) => number),
          history.map((_, index) => index + 1),
        )
        assert.equal(history.at(-1)?.to, status)
      }
    })
    await fc.assert(property, { numRuns: randomCases(dialect === 'sqlite' ? 60 : 20) })
    t.pass('the property holds')
  },
  prepareCardBench,
)

async function take(
  bench: CardBench,
  model: Model,
  { account, now }: { readonly account: string; readonly now: number },
  each: Step,
  advance: (ms: number) => void,
): Promise<void> {
  if (each.kind === 'wait') return advance(each.hours * HOUR_MS)
  if (each.kind === 'lock') {
    const { id } = CARDS[each.card] as (typeof CARDS)[number]
    if (model.canceled.has(id)) return
    const to = model.locked.has(id) ? 'active' : 'locked'
    const card = (await bench.cards.anyAccount.find(bench.db, `${account}-${id}`)) as never
    await bench.db.transaction(tx =>
      to === 'active' ? bench.cards.activateCard(tx, card, now) : bench.cards.lockCard(tx, card, 'user', now),
    )
    return void (model.locked.delete(id) || model.locked.add(id))
  }
  if (each.kind === 'pay') {
    const card = CARDS[each.card] as (typeof CARDS)[number]
    const reason = model.decline(each, now)
    const id = `auth-${account}-${model.payments.length}`
    const merchant = { name: each.name, mcc: '5734', city: null, country: 'US' }
    const request = { id, amountCents: each.amount, currency: each.currency, merchant }
    const row = await bench.pay(`${account}-${card.id}`, request)
    assert.deepEqual([row.status, row.declineReason], [reason ? 'declined' : 'authorized', reason ?? null])
    const parts = [{ amount: each.amount, at: now, cleared: 0 }]
    const made = { id, card, name: each.name, parts, status: row.status }
    model.payments.push({ ...made, cleared: 0, refunded: 0, excess: 0 })
    if (!reason && 'autoCancelAfterAuth' in card) model.canceled.add(card.id)
    return
  }
  const payment = model.payments[each.at]
  if (!payment) return
  if (each.kind === 'raise') {
    const { card, name, parts } = payment
    const { amount, currency } = each
    const reason = model.decline({ card: CARDS.indexOf(card), amount, name, currency }, now, payment)
    const id = `inc-${payment.id}-${(increments += 1)}`
    const made = await bench.raise(payment.id, { id, amountCents: amount, currency })
    assert.equal(made.declineReason, reason ?? null)
    if (!reason) parts.push({ amount, at: now, cleared: 0 })
  } else if (each.kind === 'again') {
    const again = await bench.pay(`${account}-${payment.card.id}`, {
      id: payment.id,
      amountCents: each.amount,
    })
    assert.equal(again.status, payment.status, 'a decision is final')
  } else if (each.kind === 'clear') {
    await bench.later(payment.id, (tx, row) =>
      bench.service.clear(tx, row, { id: `${(moves += 1)}`, amountCents: each.amount, final: true }, now),
    )
    let left = payment.status === 'authorized' ? each.amount : 0
    for (const part of payment.parts) {
      if (payment.status === 'authorized') part.cleared = Math.min(left, part.amount)
      left -= part.cleared
    }
    const cleared =
      payment.status === 'authorized' ? payment.parts.reduce((sum, part) => sum + part.cleared, 0) : 0
    if (payment.status === 'authorized') Object.assign(payment, { status: 'cleared', cleared })
    payment.excess += each.amount - cleared
  } else if (each.kind === 'reverse') {
    await bench.later(payment.id, (tx, row) =>
      bench.service.reverse(tx, row, { cause: 'reversed', id: `${(moves += 1)}` }, now),
    )
    if (payment.status === 'authorized') payment.status = 'reversed'
  } else {
    const refundId = `refund-${each.id}`
    const left = payment.cleared - payment.refunded
    await bench.later(payment.id, (tx, row) =>
      bench.service.refund(tx, row, { id: refundId, amountCents: each.amount }, now),
    )
    const refunded = Math.min(each.amount, left)
    const key = `${payment.id} ${refundId}`
    if (refunded > 0 && model.refunds.has(key)) return
    if (refunded > 0) model.refunds.add(key)
    payment.refunded += refunded
    payment.excess += each.amount - refunded
  }
}

onBothDatabases(
  'a card whose key cannot be read, that has expired or whose account is locked declines',
  async (t, { dialect, dbs: [db] }) => {
    const clock = manualClock(Date.UTC(2026, 10, 30, 23, 59, 59, 999))
    const bench = cardBench(db, dialect, clock)
    await bench.addAccount('ann', 1000)
    const lost = { keyLineage: { accountId: 'owner', lineageId: 'gone' } }
    await bench.addCard('ann', { id: 'lost', ...lost })
    await bench.addCard('ann', { id: 'old', expirationMonth: 11, expirationYear: 2026 })
    await bench.addCard('ann', {
      id: 'broken',
      ...lost,
      keyLineage: { accountId: 'owner', lineageId: 'odd' },
    })
    await bench.addCard('ann', { id: 'new', status: 'not_activated' })
    t.match(await bench.pay('new', { id: 'auth_0' }), { declineReason: 'card_not_activated' })
    bench.keys.set('odd', [{ id: 'odd', document: { dailySpendCap: 1 } }])
    const blocked = { status: 'declined', declineReason: 'policy_blocked', declineRule: null, hold: null }
    t.match(await bench.pay('lost', { id: 'auth_1' }), blocked)
    t.match(await bench.pay('broken', { id: 'auth_2' }), blocked, 'a document that is not a policy')
    t.match(
      await bench.pay('old', { id: 'auth_3' }),
      { status: 'authorized' },
      'in the last instant of its month',
    )
    clock.advance(1)
    t.match(await bench.pay('old', { id: 'auth_4' }), { declineReason: 'card_expired' })
    bench.keys.set('gone', [])
    t.match(await bench.pay('lost', { id: 'auth_5' }), { status: 'authorized' })
    await rows(db, "update gw_users set kyc_status = 'locked' where account_id = 'ann'")
    t.match(await bench.pay('lost', { id: 'auth_6' }), { declineReason: 'account_locked' })
    t.same(await bench.faults(), [])
    t.same(bench.counted, [
      'card_not_activated',
      'policy_blocked',
      'policy_blocked',
      'authorized',
      'card_expired',
      'authorized',
      'account_locked',
    ])
  },
  prepareCardBench,
)

t.test('every window ends now and begins its length before', t => {
  const now = Date.UTC(2026, 5, 1)
  const days = { per24HourPeriod: 1, per7DayPeriod: 7, per30DayPeriod: 30, perYearPeriod: 365 } as const
  for (const [frequency, length] of Object.entries(days))
    t.equal(internals.windowStart(frequency as keyof typeof days, now), now - length * DAY_MS, frequency)
  t.equal(internals.windowStart('allTime', now), -1)
  t.equal(internals.windowStart('perAuthorization', now), undefined)
  t.end()
})
