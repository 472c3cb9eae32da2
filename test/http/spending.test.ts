import { randomUUID } from 'node:crypto'
import { allow, Fault, scopeCatalogue } from '@gatewright/kernel'
import { gate, type Failure, type GuardedRule, type Handler, type SpendingCall } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency, type Recovered } from '@gatewright/idempotency-store'
import { memoryStorage } from '@gatewright/idempotency-store/memory'
import type { Access, Policy, SpendHold, SpendStorage } from '@gatewright/scope-guard'
import { memoryStorage as spendStorage } from '@gatewright/scope-guard/memory'
import fc from 'fast-check'
import t from 'tap'
import { bench } from '../scope-guard/issuer.ts'
import { policy } from '../scope-guard/policy/arbitrary.ts'
import { naiveAllows } from '../scope-guard/policy/naive.ts'

type Pay = SpendingCall<Access, SpendHold>

const scopes = scopeCatalogue(['payments.write'])
const rule = { operation: 'payments.create', allOf: ['payments.write'], spends: 'spend' } as const
type SpendingRule = GuardedRule<'payments.write'> & { readonly spends: 'spend' | 'withdrawal' }
const USD10 = { amountCents: 10, currency: 'USD' }

/** A gate whose guard counts in a store that can be broken, and what came of it. */
async function setUp(policies: Record<string, Policy> = { ten: { dailySpendCapCents: 10 } }) {
  const spend = spendStorage()
  const broken: Partial<SpendStorage> = {}
  const verb = <V extends 'reserve' | 'release'>(name: V): SpendStorage[V] =>
    ((...args: never[]) => (broken[name] ?? spend[name])(...(args as [never, never, never, never]))) as never
  const store: SpendStorage = { ...spend, reserve: verb('reserve'), release: verb('release') }
  const { guard, bearer, clock } = await bench({
    policies: async ids => ids.map(id => policies[id]),
    spend: store,
    cacheEntries: 1,
  })
  const failures: Failure[] = []
  let recovered: Recovered = { state: 'unknown' }
  const idempotency = createIdempotency({
    ...{ storage: memoryStorage(), clock, waitMs: 1000 },
    recover: async () => recovered,
  })
  const api = gate({ guard, scopes, idempotency, report: failure => failures.push(failure) })
  const { handle } = fetchGate(api, { body: 'stream' })

  /** Sends a payment under the policies of a session. */
  const send = async (
    handler: Handler<Pay>,
    { key = 'key-00000001', policyIds = ['ten'], body = {} as unknown, as = rule as SpendingRule } = {},
  ) => {
    const headers = {
      authorization: await bearer({ scopes: ['payments.write'], policyIds }),
      'content-type': 'application/json',
      'idempotency-key': key,
    }
    const request = new Request('http://api.test/', { method: 'POST', headers, body: JSON.stringify(body) })
    const answer = await handle(api.idempotent(as), handler)(request, undefined)
    const text = await answer.text()
    const replayed = answer.headers.get('idempotency-replayed') === 'true'
    return { status: answer.status, body: JSON.parse(text || '{}') as Record<string, unknown>, replayed }
  }
  /** What is left of the cap of ten. */
  const left = async (): Promise<number> => {
    for (let amountCents = 10; amountCents > 0; amountCents--) {
      const probe = await send(
        async ({ reserve }) => {
          const hold = await reserve({ amountCents, currency: 'USD' })
          return hold.ok ? { status: 422 } : hold
        },
        { key: randomUUID() },
      )
      if (probe.status === 422) return amountCents
    }
    return 0
  }
  const recoverAs = (state: Recovered): unknown => (recovered = state)
  return { guard, bearer, clock, api, idempotency, failures, broken, send, left, recoverAs, handle }
}

const created = { status: 201, body: { paid: true } }
const refused = { status: 422, body: { error: 'own' } }

t.test('a hold is known by the effect id, and the second of a run by it and its number', async t => {
  const { send } = await setUp()
  const ids: string[] = []
  await send(async ({ reserve, effect }) => {
    for (const [amountCents, holdId] of [[1], [2], [3, 'own'], [4]] as [number, string?][]) {
      const hold = await reserve({ amountCents, currency: 'USD', ...(holdId && { holdId }) })
      if (hold.ok) ids.push(hold.value.id.replace(effect.effectId, 'effect'))
    }
    return created
  })
  t.same(ids, ['effect', 'effect-2', 'own', 'effect-4'])
})

t.test('two reservations of one amount count twice', async t => {
  const { send, left } = await setUp()
  await send(async ({ reserve }) => {
    const holds = await Promise.all([1, 2].map(() => reserve({ amountCents: 4, currency: 'USD' })))
    return holds.find(hold => !hold.ok) ?? created
  })
  t.equal(await left(), 2)
})

t.test(
  'a refusal gives back every hold of its run, also of those that others were refused beside',
  async t => {
    const { send, left } = await setUp()
    const twice: Handler<Pay> = async ({ reserve }) => {
      const first = await reserve({ amountCents: 6, currency: 'USD' })
      const second = await reserve({ amountCents: 6, currency: 'USD' })
      return second.ok && first.ok ? created : refused
    }
    for (const _ of [1, 2]) t.equal((await send(twice)).status, 422)
    t.equal(await left(), 10)
  },
)

t.test('an answer that is kept keeps what it reserved', async t => {
  for (const status of [201, 303, 402, 404, 409]) {
    const { send, left } = await setUp()
    const kept: Handler<Pay> = async ({ reserve }) => ((await reserve(USD10)).ok ? { status } : refused)
    t.equal((await send(kept)).status, status)
    t.match(await send(kept), { status, replayed: true })
    t.equal(await left(), 0)
  }
})

t.test('whatever a handler throws after it reserved, the hold stands and the outcome is unknown', async t => {
  const errors = [
    new TypeError('x'),
    Object.assign(new Error('x'), { status: 400 }),
    new Fault('ERR_STORE_REPLY', 'x'),
  ]
  const denial = { ok: false, code: 'invalid_request', status: 400, message: 'x' }
  for (const error of [...errors, denial, 'text', undefined]) {
    const { send, left } = await setUp()
    const failing: Handler<Pay> = async ({ reserve }) => {
      await reserve(USD10)
      throw error
    }
    t.match((await send(failing)).status, /50[03]/)
    t.match(await send(failing), { status: 503, body: { error: 'outcome_unknown' } })
    t.equal(await left(), 0)
  }
})

t.test('a handler that reads a wrong body and throws has a run of unknown outcome too', async t => {
  const { send } = await setUp()
  const reading: Handler<Pay> = ({ json }) => {
    const body = json()
    const { deep } = (body.ok ? body.value : {}) as { deep: { deeper: string } }
    return { status: 201, body: deep.deeper }
  }
  t.equal((await send(reading)).status, 500)
  t.match((await send(reading)).body, { error: 'outcome_unknown' })
})

t.test('where a hold cannot be given back the outcome is unknown, and the failure is reported', async t => {
  const { send, left, broken, failures } = await setUp()
  const refusing: Handler<Pay> = async ({ reserve }) => ((await reserve(USD10)).ok ? refused : created)
  broken.release = async () => Promise.reject(new Error('the store is down'))
  t.equal((await send(refusing)).status, 422, 'the true answer is sent')
  delete broken.release
  t.match(failures, [{ operation: 'payments.create', error: { code: 'ERR_STORE_UNAVAILABLE' } }])
  t.match(await send(refusing), { status: 503, body: { error: 'outcome_unknown' } })
  t.equal(await left(), 0, 'the hold stands')
})

t.test('a reservation of unknown outcome leaves the run unknown, also where the handler refuses', async t => {
  const { send, broken, failures } = await setUp()
  broken.reserve = async () => Promise.reject(new Error('the store is down'))
  const catching: Handler<Pay> = ({ reserve }) =>
    reserve(USD10).then(
      () => created,
      () => refused,
    )
  t.equal((await send(catching)).status, 422)
  t.match(failures, [{ error: { code: 'ERR_STORE_UNAVAILABLE' } }])
  t.match((await send(catching)).body, { error: 'outcome_unknown' })
  const forgetting: Handler<Pay> = ({ reserve }) => {
    void reserve(USD10)
    return refused
  }
  t.equal((await send(forgetting, { key: 'key-00000002' })).status, 422)
  t.match((await send(forgetting, { key: 'key-00000002' })).body, { error: 'outcome_unknown' })
})

t.test('a hold that the handler has ended itself is no obstacle', async t => {
  const { send, guard, left } = await setUp()
  for (const end of ['release', 'settle'] as const) {
    const ending: Handler<Pay> = async ({ reserve }) => {
      const hold = await reserve({ amountCents: 5, currency: 'USD' })
      if (hold.ok) await guard[end](hold.value)
      return refused
    }
    t.equal((await send(ending)).status, 422)
  }
  t.equal(await left(), 5, 'what was settled stays spent')
})

t.test('reserve after the answer is refused: nobody would give it back', async t => {
  const { send, left } = await setUp()
  let late: Pay['reserve'] | undefined
  await send(({ reserve }) => {
    late = reserve
    return refused
  })
  await t.rejects((late as Pay['reserve'])(USD10), /before the handler answers/)
  t.equal(await left(), 10)
})

t.test('a lost run that runs again finds its hold', async t => {
  const { send, left, clock, recoverAs } = await setUp()
  const never = new Promise<never>(() => {})
  let reserved: () => void = () => {}
  const held = new Promise<void>(resolve => (reserved = resolve))
  void send(async ({ reserve }) => {
    await reserve(USD10)
    reserved()
    return never
  })
  await held
  clock.advance(60_000)
  const paying: Handler<Pay> = async ({ reserve }) => {
    const hold = await reserve(USD10)
    return hold.ok ? created : hold
  }
  t.match((await send(paying)).body, { error: 'outcome_unknown' })
  recoverAs({ state: 'never_happened' })
  t.equal((await send(paying)).status, 201)
  t.equal(await left(), 0)
})

t.test('a run that outlived its lease does not give back the hold of the run that followed', async t => {
  const { send, left, clock, recoverAs } = await setUp()
  let answer: () => void = () => {}
  let reserved: () => void = () => {}
  const slow = new Promise<void>(resolve => (answer = resolve))
  const held = new Promise<void>(resolve => (reserved = resolve))
  const first = send(async ({ reserve }) => {
    await reserve(USD10)
    reserved()
    await slow
    return refused
  })
  await held
  clock.advance(60_000)
  recoverAs({ state: 'never_happened' })
  const second = await send(async ({ reserve }) => ((await reserve(USD10)).ok ? created : refused))
  t.equal(second.status, 201)
  answer()
  t.equal((await first).status, 503, 'another run has decided')
  t.equal(await left(), 0, 'the hold of the second run stands')
})

t.test('prepare refuses, fails and succeeds before the run: the key stays free', async t => {
  const { api, bearer, failures, handle } = await setUp()
  const seen: unknown[] = []
  const prepare = async (call: object) => {
    seen.push(['effect', 'reserve', 'prepared'].filter(name => name in call))
    const body = (call as Pay).json()
    if (!body.ok) return body
    const { say } = body.value
    if (say === 'throw') throw Object.assign(new Error('own'), { status: 400 })
    if (say === 'nothing') return undefined as never
    if (say === 404) return { ok: false, code: 'not_found', status: 404, message: 'no plan' } as const
    return allow({ price: 7 })
  }
  const route = api.idempotent(rule, prepare)
  let runs = 0
  const mounted = handle(route, async ({ prepared, reserve }) => {
    runs++
    const hold = await reserve({ amountCents: prepared.price, currency: 'USD' })
    return hold.ok ? { status: 201, body: prepared } : hold
  })
  const send = async (say: unknown): Promise<Response> => {
    const authorization = await bearer({ scopes: ['payments.write'], policyIds: ['ten'] })
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'key-00000001' }
    const body = JSON.stringify({ say })
    return mounted(new Request('http://api.test/', { method: 'POST', headers, body }), undefined)
  }
  for (const [say, status] of [
    [404, 404],
    ['throw', 500],
    ['nothing', 500],
  ] as const) {
    for (const _ of [1, 2]) t.equal((await send(say)).status, status, String(say))
  }
  t.equal(runs, 0)
  t.match(
    failures,
    Array.from({ length: 4 }, () => ({ operation: 'payments.create', error: Error })),
  )
  const [first, again] = [await send('go'), await send('go')]
  t.same([await first.json(), await again.json()], [{ price: 7 }, { price: 7 }])
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.same(
    seen,
    Array.from({ length: 7 }, () => []),
    'without effect and reserve, and not for a replay',
  )
})

t.test('a key that prepare cannot free is reported, and its refusal is sent', async t => {
  const { guard, bearer, idempotency, failures } = await setUp()
  const stuck = { ...idempotency, release: async () => Promise.reject(new Error('down')) }
  const report = (failure: Failure): unknown => failures.push(failure)
  const api = gate({ guard, scopes, idempotency: stuck, report })
  const no = { ok: false, code: 'not_found', status: 404, message: 'no plan' } as const
  const mounted = fetchGate(api, { body: 'stream' }).handle(
    api.idempotent(rule, () => no),
    () => created,
  )
  const authorization = await bearer({ scopes: ['payments.write'] })
  const headers = { authorization, 'idempotency-key': 'key-00000001' }
  const answer = await mounted(new Request('http://api.test/', { method: 'POST', headers }), undefined)
  t.equal(answer.status, 404)
  t.match(failures, [{ error: { message: 'down' } }])
  const { release: _, ...without } = stuck
  const bare = gate({ guard, scopes, idempotency: without })
  t.throws(() => bare.idempotent(rule, () => no), /must have the function release/)
})

t.test('those who wait for an answer pass their own limits', async t => {
  const { send } = await setUp({ ten: { dailySpendCapCents: 10 }, one: { maxAuthAmountCents: 1 } })
  let go: () => void = () => {}
  const waiting = new Promise<void>(resolve => (go = resolve))
  const slow: Handler<Pay> = async ({ reserve }) => {
    const hold = await reserve(USD10)
    await waiting
    return hold.ok ? created : hold
  }
  const first = send(slow)
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

t.test('an answer with spends is not given out by a guard that cannot judge them', async t => {
  const { guard, bearer, idempotency, failures, send } = await setUp()
  await send(async ({ reserve }) => ((await reserve(USD10)).ok ? created : refused))
  const report = (failure: Failure): unknown => failures.push(failure)
  const plain = { check: guard.check, prepare: guard.prepare }
  const api = gate({ guard: plain, scopes, idempotency, report })
  const mounted = fetchGate(api, { body: 'stream' }).handle(api.idempotent(rule), call => {
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
  t.match(failures, [{ error: { message: /needs a guard with reserve, release and permits/ } }])
})

/** The policies without what counts over time: what a replay is judged by. */
const atOnce = (policies: Record<string, Policy>): Record<string, Policy> =>
  Object.fromEntries(
    Object.entries(policies).map(
      ([id, { dailySpendCapCents: _, dailyWithdrawalCapCents: __, limits, ...rest }]) => [
        id,
        { ...rest, ...(limits && { limits: limits.filter(({ window }) => window === 'operation') }) },
      ],
    ),
  )

const withdraw = { operation: 'withdrawals.create', allOf: ['payments.write'], spends: 'withdrawal' } as const

/** Whether a policy caps the money of withdrawals: another currency without a rate is blocked by it. */
const capsMoney = ({ limits = [], ...caps }: Policy): boolean =>
  ['maxAuthAmountCents', 'dailySpendCapCents', 'dailyWithdrawalCapCents'].some(name => name in caps) ||
  limits.some(
    ({ maxCents, operations }) =>
      maxCents !== undefined && operations.some(each => /^withdrawals\.(?:\*|create)$/.test(each)),
  )

t.test(
  'answers a replay where a fresh call of its amount would pass gates and per-operation limits',
  async t => {
    let [answered, blocked] = [0, 0]
    const chain = fc
      .array(policy, { minLength: 1, maxLength: 2 })
      .map(list => Object.fromEntries(list.map((one, index) => [`p${index}`, one])))
    const amountCents = fc.integer({ min: 0, max: 120 })
    const currency = fc.constantFrom('USD', 'USD', 'EUR')
    await fc.assert(
      fc.asyncProperty(chain, amountCents, currency, async (policies, cents, unit) => {
        const { send, clock } = await setUp(policies)
        const paying: Handler<Pay> = async ({ reserve }) => {
          const hold = await reserve({ amountCents: cents, currency: unit })
          return hold.ok ? created : hold
        }
        if ((await send(paying, { as: withdraw, policyIds: [] })).status !== 201) throw new Error('refused')
        const replay = await send(paying, { as: withdraw, policyIds: Object.keys(policies) })
        const call = {
          ...{ operation: withdraw.operation, now: clock.now(), address: undefined, cardSecrets: false },
          ...{ kind: withdraw.spends, cents },
        }
        const expected =
          naiveAllows(atOnce(policies), call, []) &&
          (unit === 'USD' || !Object.values(policies).some(capsMoney))
        if (expected) answered++
        else blocked++
        if (replay.replayed !== expected || replay.status !== (expected ? 201 : 403)) {
          throw new Error(`${JSON.stringify(replay)}, expected ${expected ? 'the answer' : 'policy_blocked'}`)
        }
      }),
      { numRuns: 400 },
    )
    t.ok(answered > 50 && blocked > 50, `both sides were met: ${answered} answered, ${blocked} blocked`)
  },
)
