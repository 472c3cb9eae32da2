// What a route with the option `amount` reserves, and how the hold ends with the outcome of the run.
import { Fault, scopeCatalogue } from '@gatewright/kernel'
import { gate, type Handler } from '@gatewright/http'
import { returned } from '#packages/http/dist/idempotency/reservations.js'
import type { AmountCall, SpendingCall } from '#packages/http/dist/handler-types.js'
import type { Failure } from '#packages/http/dist/options.js'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency, type IdempotencyStorage } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import type { Access, Policy, SpendHold, SpendStorage } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { bench } from '../../scope-guard/issuer.ts'

const rule = { operation: 'payments.create', allOf: ['payments.write'], spends: 'spend' } as const
const scopes = scopeCatalogue(['payments.write'])
type Pay = AmountCall<Access, SpendHold>
type Reserve = SpendingCall<Access, SpendHold>
type Step = 'reserve' | 'release' | 'settle' | 'record'

/** A gate over a cap of 10, whose stores can be broken, and the order in which a run uses them. */
async function setUp(policy: Policy = { dailySpendCapCents: 10 }) {
  const spend = memorySpends()
  const records = memoryIdempotency()
  const steps: string[] = []
  let broken: Step | undefined
  const on = async <T>(step: Step, text: string, call: () => Promise<T>): Promise<T> => {
    steps.push(text)
    if (broken === step) throw new Fault('ERR_STORE_UNAVAILABLE', `${step} is down`)
    return call()
  }
  const { guard, bearer, clock } = await bench({
    policies: async ids => ids.map(() => policy),
    spend: {
      ...spend,
      reserve: (...args) => on('reserve', 'reserve', () => spend.reserve(...args)),
      release: (...args) => on('release', 'release', () => spend.release(...args)),
      settle: (...args) => on('settle', `settle ${args[2]}`, () => spend.settle(...args)),
    } satisfies SpendStorage,
  })
  const storage: IdempotencyStorage = {
    ...records,
    end: (key, fence, ending, now) =>
      on('record', `record ${ending.state}`, () => records.end(key, fence, ending, now)),
  }
  const failures: Failure[] = []
  const idempotency = createIdempotency({
    storage,
    clock,
    waitMs: 0,
    timer: { now: () => 0, sleep: async () => {} },
  })
  const api = gate({ guard, scopes, idempotency, report: failure => failures.push(failure) })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const authorization = await bearer({ scopes: ['payments.write'], policyIds: ['ten'] })
  let calls = 0
  const route = api.idempotent(rule, {
    prepare: ({ json }) => json(),
    amount: ({ prepared }) => {
      calls++
      if (prepared['throws']) throw new Error('no price')
      if (prepared['forgotten']) return undefined as never
      if (prepared['asynchronous']) return Promise.reject(new Error('no price')) as never
      const { amountCents, ...others } = prepared as { amountCents: number }
      return { ...others, amountCents, currency: 'USD' }
    },
  })
  const reserving = api.idempotent({ ...rule, operation: 'payments.reserve' })
  interface Sent {
    readonly key?: string
    readonly body?: object
  }
  const sendTo = async (
    served: ReturnType<typeof handle>,
    { key = 'key-00000001', body }: Sent = {},
  ): Promise<{ status: number; error: unknown; replayed: boolean }> => {
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': key }
    const request = new Request('http://api.test/', {
      method: 'POST',
      headers,
      body: JSON.stringify(body ?? { amountCents: 10 }),
    })
    const response = await served(request, undefined)
    const { error } = JSON.parse((await response.text()) || '{}') as { error?: unknown }
    return { status: response.status, error, replayed: response.headers.has('idempotency-replayed') }
  }
  const caps = async (): Promise<{ used: number; held: number }> => {
    const verdict = await guard.authenticate({ authorization })
    if (!verdict.ok) throw new Error('no session')
    const [cap] = await guard.caps(verdict.value)
    return { used: cap?.used ?? -1, held: cap?.held ?? -1 }
  }
  return {
    send: async (handler: Handler<Pay>, sent?: Sent) => sendTo(handle(route, handler), sent),
    /** Sends to a route without `amount`, whose handler reserves. */
    sendReserving: async (handler: Handler<Reserve>, sent?: Sent) => sendTo(handle(reserving, handler), sent),
    steps,
    failures,
    caps,
    clock,
    calls: () => calls,
    breakAt: (step: Step | undefined): void => void (broken = step),
  }
}

const paid: Handler<Pay> = () => ({ status: 201 })
const failing: Handler<Pay> = () => {
  throw new Error('own')
}

t.test('reserves before the handler, stores the response, and then settles in full', async t => {
  const { send, steps, calls } = await setUp()
  const seen: string[] = []
  const handler: Handler<Pay> = ({ hold }) => {
    seen.push(...steps, ...Object.keys(hold))
    return { status: 201 }
  }
  t.match(await send(handler), { status: 201, replayed: false })
  t.same(seen, ['reserve', 'settle', 'release', 'keep'])
  t.same(steps, ['reserve', 'record done', 'settle 10'])
  t.match(await send(handler), { status: 201, replayed: true })
  t.equal(calls(), 1, 'not for a replay')
  t.equal(steps.length, 3)
})

t.test('denies an amount above the cap or malformed before the handler, and the key is free', async t => {
  const { send, steps } = await setUp()
  const never: Handler<Pay> = () => t.fail('the handler ran') as never
  for (const [amountCents, status] of [
    [11, 403],
    ['x', 400],
    [11, 403],
  ] as const) {
    t.match(await send(never, { body: { amountCents } }), { status, replayed: false })
    t.equal(steps.at(-1), 'record free')
  }
  t.equal((await send(paid)).status, 201)
})

t.test('says once what amount gave if it is malformed, and nothing of one above the cap', async t => {
  const { send } = await setUp()
  const warned = t.capture(process.stderr, 'write', () => true)
  await send(paid, { body: { amountCents: 11 } })
  t.same(warned(), [])
  for (const _ of [1, 2]) await send(paid, { body: { amountCents: 'x' } })
  t.match(
    warned().map(({ args }) => args),
    [[/payments\.create: the function that returns the amount .* gave \{ amountCents: string, /]],
  )
})

t.test('frees the key if amount throws or the reservation fails, and a repeat finds the hold', async t => {
  const { send, breakAt, caps, failures } = await setUp()
  const body = { amountCents: 10, throws: true }
  for (const _ of [1, 2]) t.equal((await send(paid, { body })).status, 500)
  breakAt('reserve')
  for (const _ of [1, 2])
    t.equal((await send(paid, { key: 'key-00000002' })).error, 'service_unavailable', 'not outcome_unknown')
  breakAt(undefined)
  t.match(await send(paid, { key: 'key-00000002' }), { status: 201, replayed: false })
  t.same(await caps(), { used: 10, held: 0 })
  t.equal(failures.length, 4)
})

t.test('a client cannot name the hold, so as to spend one hold twice', async t => {
  const { send, caps } = await setUp()
  const body = { amountCents: 6, holdId: 'chosen' }
  let second: Awaited<ReturnType<typeof send>> | undefined
  const first = await send(
    async () => {
      second = await send(paid, { key: 'key-00000002', body })
      return { status: 201 }
    },
    { body },
  )
  t.equal(first.status, 201)
  t.match(second, { status: 403, error: 'policy_blocked' })
  t.same(await caps(), { used: 6, held: 0 })
})

t.test('an amount may count as other operations', async t => {
  const limit = { operations: ['payouts.create'], window: 'day', maxCents: 5 } as const
  const { send } = await setUp({ limits: [limit] })
  t.equal((await send(paid, { body: { amountCents: 6 } })).status, 201)
  const body = { amountCents: 6, countsAs: ['payouts.create'] }
  t.match(await send(paid, { key: 'key-00000002', body }), { status: 403, error: 'policy_blocked' })
})

t.test('an amount that is a promise, or nothing, is an error of the route', async t => {
  const { send, failures } = await setUp()
  for (const body of [{ asynchronous: true }, { forgotten: true }])
    for (const _ of [1, 2])
      t.equal((await send(paid, { body, key: JSON.stringify(body).slice(2, 10) })).status, 500)
  const error = (got: string): object => ({
    name: 'TypeError',
    message: new RegExp(
      `^payments\\.create: the function that returns the amount \\(amount, spends, withdraws\\) must return \\{ amountCents, currency \\}, got ${got}`,
    ),
  })
  t.match(
    failures.map(failure => ({ error: failure.error })),
    ['a promise', 'a promise', 'undefined', 'undefined'].map(got => ({ error: error(got) })),
  )
})

t.test('a run makes as many holds as a decision about a lost run ends', async t => {
  const { sendReserving, failures } = await setUp()
  let most = 0
  await sendReserving(async ({ reserve }) => {
    for (; most < 20; most++) await reserve({ amountCents: 0, currency: 'USD' })
    return { status: 422 }
  })
  t.equal(most, 16)
  t.match(failures, [{ error: { name: 'TypeError', message: /at most 16/ } }])
})

t.test('the outcome and the handler together decide how the hold ends', async t => {
  for (const [status, end, then, used, held] of [
    [201, undefined, ['record done', 'settle 10'], 10, 0],
    [201, 4, ['record done', 'settle 4'], 4, 0],
    [201, 0, ['record done', 'settle 0'], 0, 0],
    [201, 'release', ['record done', 'release'], 0, 0],
    [201, 'keep', ['record done'], 10, 10],
    [404, undefined, ['record done', 'release'], 0, 0],
    [409, 4, ['record done', 'settle 4'], 4, 0],
    [422, undefined, ['release', 'record free'], 0, 0],
    [402, 4, ['settle 4', 'record free'], 4, 0],
    [422, 'keep', ['record free'], 10, 10],
    [500, undefined, ['record lost'], 10, 10],
    [503, 4, ['record lost'], 10, 10],
    [500, 'release', ['record lost'], 10, 10],
  ] as const) {
    const { send, steps, caps, failures } = await setUp()
    const response = await send(({ hold }) => {
      if (typeof end === 'number') hold.settle(end)
      else if (end) hold[end]()
      return { status }
    })
    t.equal(response.status, status)
    t.same(steps, ['reserve', ...then], `${status} ${end}`)
    t.same(await caps(), { used, held }, `${status} ${end}`)
    t.same(failures, [])
  }
})

t.test('an error after the handler settled keeps the whole hold', async t => {
  const { send, caps } = await setUp()
  t.equal((await send(call => failing((call.hold.settle(1), call)))).status, 500)
  t.same(await caps(), { used: 10, held: 10 })
})

t.test('without amount, a success whose handler ended not every hold keeps all of them', async t => {
  const ends: readonly (readonly [Handler<Reserve>, string, number])[] = [
    [
      async ({ reserve }) => (await reserve({ amountCents: 4, currency: 'USD' }), { status: 201 }),
      'ERR_HOLD_NOT_ENDED',
      4,
    ],
    [
      ({ reserve }) => (void reserve({ amountCents: 4, currency: 'USD' }), { status: 303 }),
      'ERR_HOLD_NOT_ENDED',
      4,
    ],
    [
      async ({ reserve, spendsNothing }) => {
        const first = await reserve({ amountCents: 4, currency: 'USD' })
        if (first.ok) first.value.settle(1)
        await reserve({ amountCents: 5, currency: 'USD' })
        spendsNothing()
        return { status: 201 }
      },
      'ERR_HOLD_NOT_ENDED',
      9,
    ],
    [() => ({ status: 201 }), 'ERR_NOT_RESERVED', 0],
    [
      async ({ reserve }) => (await reserve({ amountCents: 11, currency: 'USD' }), { status: 201 }),
      'ERR_NOT_RESERVED',
      0,
    ],
  ]
  for (const [handler, code, held] of ends) {
    const { sendReserving, steps, caps, failures } = await setUp()
    for (const error of ['service_unavailable', 'outcome_unknown'])
      t.match(await sendReserving(handler), { status: 503, error })
    t.same(
      steps.filter(step => step !== 'reserve'),
      ['record lost'],
      'and a repeat does not run',
    )
    t.same(await caps(), { used: held, held })
    t.match(failures, [{ error: { code, message: /^payments\.reserve would have succeeded/ } }])
  }
})

t.test('without amount, a denial releases a hold that its handler left open', async t => {
  for (const [status, then] of [
    [404, ['record done', 'release']],
    [422, ['release', 'record free']],
  ] as const) {
    const { sendReserving, steps, caps, failures } = await setUp()
    const response = await sendReserving(async ({ reserve }) => {
      await reserve({ amountCents: 4, currency: 'USD' })
      return { status }
    })
    t.equal(response.status, status)
    t.same(steps, ['reserve', ...then])
    t.same(await caps(), { used: 0, held: 0 })
    t.same(failures, [])
  }
})

t.test('a denial of any 4xx status needs no reservation', async t => {
  for (const status of [400, 401, 404, 499]) {
    const { sendReserving, failures } = await setUp()
    t.equal((await sendReserving(() => ({ status }))).status, status)
    t.same(failures, [])
  }
})

t.test('takes one end for a hold, of at most its amount, and only before the response', async t => {
  const { send, sendReserving } = await setUp()
  let late: Pay['hold'] | undefined
  await send(({ hold }) => {
    late = hold
    for (const wrong of [11, -1, 1.5, NaN, '1' as never])
      t.throws(() => hold.settle(wrong), { name: 'TypeError', message: /from 0 to 10, the reserved amount/ })
    hold.settle(2)
    for (const again of [hold.settle, hold.release, hold.keep])
      t.throws(() => again(), { name: 'TypeError', message: /only one of settle, release and keep/ })
    return { status: 201 }
  })
  t.throws(() => late?.keep(), { name: 'TypeError', message: /before the handler returns/ })
  let nothing: Reserve['spendsNothing'] | undefined
  await sendReserving(({ spendsNothing }) => ((nothing = spendsNothing), { status: 422 }))
  t.throws(() => nothing?.(), {
    name: 'TypeError',
    message: /spendsNothing must be called before the handler/,
  })
})

t.test('if the response cannot be stored, the hold stays with the unknown outcome', async t => {
  const { send, breakAt, caps, failures } = await setUp()
  t.equal((await send(() => (breakAt('record'), { status: 201 }))).status, 201, 'the true response is sent')
  t.same(await caps(), { used: 10, held: 10 })
  t.match(failures, [{ error: { code: 'ERR_STORE_UNAVAILABLE' } }])
})

t.test('if the hold cannot be settled, the response is stored and the failure reported', async t => {
  const { send, breakAt, caps, failures } = await setUp()
  t.equal((await send(() => (breakAt('settle'), { status: 201 }))).status, 201)
  t.match(await send(paid), { status: 201, replayed: true })
  t.same(await caps(), { used: 10, held: 10 })
  t.match(failures, [{ error: { code: 'ERR_STORE_UNAVAILABLE' } }])
})

t.test('refuses an amount that nothing could count, at construction', async t => {
  const { guard } = await bench({ policies: async ids => ids.map(() => ({})) })
  const idempotency = createIdempotency({ storage: memoryIdempotency() })
  const counting = await bench({ policies: async ids => ids.map(() => ({})), spend: memorySpends() })
  const amount = () => ({ amountCents: 1, currency: 'USD' })
  const { settle: _, ...without } = counting.guard
  for (const each of [guard, { check: guard.check, prepare: guard.prepare }, without]) {
    const api = gate({ guard: each, scopes, idempotency })
    for (const options of [{ amount }, {}])
      t.throws(() => api.idempotent(rule, options), {
        name: 'TypeError',
        message:
          /payments\.create: its rule spends, and nothing counts it: give createGuard the option spend/,
      })
  }
  const api = gate({ guard: counting.guard, scopes, idempotency })
  const { spends: __, ...plain } = rule
  t.throws(() => api.idempotent(plain, { amount }), /amount needs a rule that spends/)
  t.throws(() => api.idempotent(rule, { amount: 10 as never }), /amount must be a function of the call/)
  const { release: ___, ...stuck } = idempotency
  const unfreed = gate({ guard: counting.guard, scopes, idempotency: stuck })
  t.throws(() => unfreed.idempotent(rule, { amount }), /must have the function release/)
})

t.test(
  'under any outcomes, what counts is what was settled and what is held, and never above the cap',
  async () => {
    const outcome = fc.record({
      amountCents: fc.integer({ min: 0, max: 6 }),
      status: fc.constantFrom(201, 201, 303, 404, 402, 500, 0),
      end: fc.constantFrom(undefined, undefined, 'release', 'keep', 'settle'),
      part: fc.integer({ min: 0, max: 6 }),
      broken: fc.constantFrom(undefined, undefined, undefined, 'release', 'settle', 'record', 'reserve'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(outcome, { minLength: 1, maxLength: 8 }), async outcomes => {
        const { send, caps, breakAt } = await setUp()
        let least = 0
        for (const [index, { amountCents, status, end, part, broken }] of outcomes.entries()) {
          let ran = false
          const spent = Math.min(part, amountCents)
          const handler: Handler<Pay> = ({ hold }) => {
            ran = true
            if (end === 'settle') hold.settle(spent)
            else if (end) hold[end]()
            breakAt(broken)
            if (status === 0) throw new Error('own')
            return { status }
          }
          if (broken === 'reserve') breakAt(broken)
          await send(handler, { key: `key-0000000${index}`, body: { amountCents } })
          breakAt(undefined)
          if (!ran) continue
          const isUnknown = status === 0 || status >= 500 || (status < 400 && broken === 'record')
          if (isUnknown || end === 'keep') least += amountCents
          else if (end === 'settle') least += spent
          else if (status < 400 && end === undefined) least += amountCents
        }
        const { used } = await caps()
        if (used > 10) throw new Error(`${used} above the cap`)
        if (used < least) throw new Error(`${least} were or may be spent, and only ${used} count`)
      }),
      { numRuns: randomCases(300) },
    )
  },
)

t.test('says what a function gave as an amount, of other types than expected only the type', async t => {
  for (const [given, said] of [
    [{ amountCents: 10.5, currency: 'USD' }, '{ amountCents: 10.5, currency: "USD" }'],
    [{ amountCents: 1, currency: 'US dollars' }, '{ amountCents: 1, currency: "US dolla" }'],
    [{ amountCents: '7 dollars', currency: 840 }, '{ amountCents: string, currency: number }'],
    [{}, '{ amountCents: undefined, currency: undefined }'],
  ] as const)
    t.match(returned(given as never), ` gave ${said}: it must give a safe integer`)
})
