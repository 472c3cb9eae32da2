import { gate, type Handler } from '@gatewright/http'
import type { Failure } from '#packages/http/dist/options.js'
import { fetchGate } from '@gatewright/http/fetch'
import type { Policy } from '@gatewright/scope-guard'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { policy } from '../../scope-guard/policies/arbitrary.ts'
import { naiveAllows } from '../../scope-guard/policies/naive.ts'
import { created, paying, rule, scopes, setUp, TEN_CENTS, type Pay } from './spending.ts'

t.test('checks requests that wait for a response against their own limits', async t => {
  const { send } = await setUp({ ten: { dailySpendCapCents: 10 }, one: { maxAuthAmountCents: 1 } })
  let go: () => void = () => {}
  const waiting = new Promise<void>(resolve => (go = resolve))
  let started: () => void = () => {}
  const running = new Promise<void>(resolve => (started = resolve))
  const slow: Handler<Pay> = async ({ reserve }) => {
    started()
    const hold = await reserve(TEN_CENTS)
    await waiting
    if (!hold.ok) return hold
    hold.value.settle()
    return created
  }
  const first = send(slow)
  await running
  const others = ['one', 'ten', 'one'].map(id => send(slow, { policyIds: [id] }))
  for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate)
  go()
  t.match(await first, { status: 201, replayed: false })
  t.match(await Promise.all(others), [
    { status: 403, body: { error: 'policy_blocked', rule: 'maxAuthAmountCents', remaining: 1 } },
    { status: 201, replayed: true },
    { status: 403, replayed: false },
  ])
})

t.test('returns 500 to a replay with spends if the guard has no `permits`', async t => {
  const { guard, bearer, idempotency, failures, send } = await setUp()
  await send(paying)
  const report = (failure: Failure): unknown => failures.push(failure)
  const plain = { check: guard.check, prepare: guard.prepare }
  const api = gate({ guard: plain, scopes, idempotency, report })
  const { spends: _, ...plainRule } = rule
  const mounted = fetchGate(api, { body: 'stream', peer: 'none' }).handle(api.idempotent(plainRule), call => {
    t.notOk('reserve' in call)
    return created
  })
  const headers = {
    authorization: await bearer({ scopes: ['payments.write'] }),
    'content-type': 'application/json',
    'idempotency-key': 'key-00000001',
  }
  const request = new Request('http://api.test/', { method: 'POST', headers, body: '{}' })
  t.equal((await mounted(request, undefined)).status, 500)
  t.match(failures, [{ error: { message: /the guard must have reserve, release and permits/ } }])
})

/** The policies without daily, monthly and total limits: what a replay is checked against. */
const perOperationOnly = (policies: Record<string, Policy>): Record<string, Policy> =>
  Object.fromEntries(
    Object.entries(policies).map(([id, { limits, ...policy }]) => {
      const { dailySpendCapCents: _daily, dailyWithdrawalCapCents: _withdrawn, ...rest } = policy
      // A stored response names no payee: that was decided when the money moved, and so was what had to be approved.
      const { payees: _payees, denyPayees: _denied, approveAboveCents: _asks, ...kept } = rest
      const perOperation = limits?.filter(
        ({ window, approveAboveCents }) => window === 'operation' && approveAboveCents === undefined,
      )
      return [id, { ...kept, ...(perOperation && { limits: perOperation }) }]
    }),
  )

const withdraw = { operation: 'withdrawals.create', allOf: ['payments.write'], spends: 'withdrawal' } as const

/** Whether a policy has a money cap that covers withdrawals. It blocks a currency without a rate. */
const capsMoney = ({ limits = [], ...caps }: Policy): boolean =>
  ['maxAuthAmountCents', 'dailySpendCapCents', 'dailyWithdrawalCapCents', 'approveAboveCents'].some(
    name => name in caps,
  ) ||
  limits.some(
    ({ maxCents, approveAboveCents, operations }) =>
      (maxCents ?? approveAboveCents) !== undefined &&
      operations.some(each => /^withdrawals\.(?:\*|create)$/.test(each)),
  )

t.test(
  'replays a response if a new call with its amount would satisfy the policies and per-operation limits',
  async t => {
    let [responded, blocked] = [0, 0]
    const chain = fc
      .array(policy, { minLength: 1, maxLength: 2 })
      .map(list => Object.fromEntries(list.map((one, index) => [`p${index}`, one])))
    const amountCents = fc.integer({ min: 0, max: 120 })
    const currency = fc.constantFrom('USD', 'USD', 'EUR')
    await fc.assert(
      fc.asyncProperty(chain, amountCents, currency, async (policies, cents, unit) => {
        const { send, clock } = await setUp(policies)
        const payingAll: Handler<Pay> = async ({ reserve }) => {
          const hold = await reserve({ amountCents: cents, currency: unit })
          if (!hold.ok) return hold
          hold.value.settle()
          return created
        }
        if ((await send(payingAll, { as: withdraw, policyIds: [] })).status !== 201) throw new Error('denied')
        const replay = await send(payingAll, { as: withdraw, policyIds: Object.keys(policies) })
        const call = {
          operation: withdraw.operation,
          now: clock.now(),
          address: undefined,
          cardSecrets: false,
          kind: withdraw.spends,
          countsAs: [],
          payee: [],
          cents,
        }
        const expected =
          naiveAllows(perOperationOnly(policies), call, []) &&
          (unit === 'USD' || !Object.values(policies).some(capsMoney))
        if (expected) responded++
        else blocked++
        if (replay.replayed !== expected || replay.status !== (expected ? 201 : 403)) {
          throw new Error(
            `${JSON.stringify(replay)}, expected ${expected ? 'the response' : 'policy_blocked'}`,
          )
        }
      }),
      { numRuns: randomCases(400) },
    )
    t.ok(responded > 0 && blocked > 0, `both cases occurred: ${responded} responded, ${blocked} blocked`)
  },
)
