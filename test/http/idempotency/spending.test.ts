import { Fault } from '@gatewright/kernel'
import type { Handler } from '@gatewright/http'
import { createLostRuns } from '@gatewright/idempotency-store'
import { endRunHolds } from '@gatewright/scope-guard'
import t from 'tap'
import { SPEND_STORES } from '../../scope-guard/spend/stores.ts'
import { created, denied, paying, setUp, TEN_CENTS, type Pay } from './spending.ts'

t.test(
  'the id of a hold is the effect id, and of the second hold of a run the effect id and its number',
  async t => {
    const { send } = await setUp()
    const ids: string[] = []
    await send(async ({ reserve, effect }) => {
      for (const [amountCents, holdId] of [[1], [2], [3, 'own'], [4]] as [number, string?][]) {
        const hold = await reserve({ amountCents, currency: 'USD', ...(holdId && { holdId }) })
        if (hold.ok) ids.push(hold.value.keep().id.replace(effect.effectId, 'effect'))
      }
      return created
    })
    t.same(ids, ['effect', 'effect-2', 'own', 'effect-4'])
  },
)

t.test('two reservations of one amount count twice', async t => {
  const { send, left } = await setUp()
  await send(async ({ reserve }) => {
    const holds = await Promise.all([1, 2].map(() => reserve({ amountCents: 4, currency: 'USD' })))
    for (const hold of holds) if (hold.ok) hold.value.settle()
    return holds.find(hold => !hold.ok) ?? created
  })
  t.equal(await left(), 2)
})

t.test('a denial gives back every hold of its run, also if another reservation was denied', async t => {
  const { send, left } = await setUp()
  const twice: Handler<Pay> = async ({ reserve }) => {
    const first = await reserve({ amountCents: 6, currency: 'USD' })
    const second = await reserve({ amountCents: 6, currency: 'USD' })
    return second.ok && first.ok ? created : denied
  }
  for (const _ of [1, 2]) t.equal((await send(twice)).status, 422)
  t.equal(await left(), 10)
})

t.test('if a handler throws after it reserved, the hold remains and the outcome is unknown', async t => {
  const errors = [
    new TypeError('x'),
    Object.assign(new Error('x'), { status: 400 }),
    new Fault('ERR_STORE_REPLY', 'x'),
  ]
  const denial = { ok: false, code: 'invalid_request', status: 400, message: 'x' }
  for (const error of [...errors, denial, 'text', undefined]) {
    const { send, left } = await setUp()
    const failing: Handler<Pay> = async ({ reserve }) => {
      await reserve(TEN_CENTS)
      // oxlint-disable-next-line typescript/only-throw-error -- whatever it is
      throw error
    }
    t.match((await send(failing)).status, /50[03]/)
    t.match(await send(failing), { status: 503, body: { error: 'outcome_unknown' } })
    t.equal(await left(), 0)
  }
})

t.test('if a hold cannot be given back, the outcome is unknown and the failure is reported', async t => {
  const { send, left, broken, failures } = await setUp()
  const denying: Handler<Pay> = async ({ reserve }) => ((await reserve(TEN_CENTS)).ok ? denied : created)
  broken.release = async () => Promise.reject(new Error('the store is down'))
  t.equal((await send(denying)).status, 422, 'the true response is sent')
  delete broken.release
  t.match(failures, [{ operation: 'payments.create', error: { code: 'ERR_STORE_UNAVAILABLE' } }])
  t.match(await send(denying), { status: 503, body: { error: 'outcome_unknown' } })
  t.equal(await left(), 0, 'the hold is kept')
})

t.test(
  'a reservation of unknown outcome leaves the outcome of the run unknown, also if the handler denies',
  async t => {
    const { send, broken, failures } = await setUp()
    broken.reserve = async () => Promise.reject(new Error('the store is down'))
    const catching: Handler<Pay> = ({ reserve }) =>
      reserve(TEN_CENTS).then(
        () => created,
        () => denied,
      )
    t.equal((await send(catching)).status, 422)
    t.match(failures, [{ error: { code: 'ERR_STORE_UNAVAILABLE' } }])
    t.match((await send(catching)).body, { error: 'outcome_unknown' })
    const forgetting: Handler<Pay> = ({ reserve }) => {
      void reserve(TEN_CENTS)
      return denied
    }
    t.equal((await send(forgetting, { key: 'key-00000002' })).status, 422)
    t.match((await send(forgetting, { key: 'key-00000002' })).body, { error: 'outcome_unknown' })
  },
)

t.test('refuses reserve after the response, since its hold would never be given back', async t => {
  const { send, left } = await setUp()
  let late: Pay['reserve'] | undefined
  await send(({ reserve }) => {
    late = reserve
    return denied
  })
  await t.rejects((late as Pay['reserve'])(TEN_CENTS), /before the handler returns/)
  t.equal(await left(), 10)
})

/** A run that reserves ten cents, and whose process ends before it responds. */
async function killed(send: (handler: Handler<Pay>) => Promise<unknown>): Promise<void> {
  await new Promise<void>(reserved => {
    void send(async ({ reserve }) => {
      await reserve(TEN_CENTS)
      reserved()
      return new Promise<never>(() => {})
    })
  })
}

t.test('a repeated run of unknown outcome finds its hold', async t => {
  const { send, left, clock, recoverAs } = await setUp()
  await killed(send)
  clock.advance(60_000)
  t.match((await send(paying)).body, { error: 'outcome_unknown' })
  recoverAs({ state: 'never_happened' })
  t.equal((await send(paying)).status, 201)
  t.equal(await left(), 0)
})

for (const [name, open] of SPEND_STORES)
  t.test(
    `a run that was killed before midnight is repeated after it and finds its hold: ${name}`,
    async t => {
      const { spend, close } = await open()
      t.teardown(close)
      const { send, left, clock, recoverAs, failures } = await setUp(
        { ten: { dailySpendCapCents: 10 } },
        spend,
      )
      const MIDNIGHT = Date.parse('2026-01-02T00:00:00Z')
      clock.set(MIDNIGHT - 1000)
      await killed(send)
      t.equal(await left(), 0)
      recoverAs({ state: 'never_happened' })
      clock.set(MIDNIGHT + 60_000)
      t.match(await send(paying), { status: 201, replayed: false })
      t.match(await send(paying), { status: 201, replayed: true })
      t.same(failures, [])
      t.equal(await left(), 10, 'it counts on the day of its reservation')
      clock.set(MIDNIGHT - 1)
      t.equal(await left(), 0)
    },
  )

t.test(
  'a run that would reserve another amount waits until the hold of the lost run is released',
  async t => {
    const { send, left, clock, recoverAs, failures, idempotencyStorage, spend } = await setUp()
    await killed(send)
    recoverAs({ state: 'never_happened' })
    clock.advance(86_400_000)
    const payingLess: Handler<Pay> = async ({ reserve }) => {
      const hold = await reserve({ ...TEN_CENTS, amountCents: 9 })
      if (!hold.ok) return hold
      hold.value.settle()
      return created
    }
    for (const _ of [1, 2]) {
      t.match(await send(payingLess), { status: 503 })
      t.match(failures.pop(), { error: { code: 'ERR_HOLD_CONFLICT' } })
      clock.advance(60_000)
    }
    recoverAs({ state: 'unknown' })
    const lostRuns = createLostRuns({
      storage: idempotencyStorage,
      clock,
      endHolds: (run, outcome) => endRunHolds(spend, run, outcome),
    })
    const { runs } = await lostRuns.list()
    t.equal(await lostRuns.release(runs[0]!.id, { by: 'ops', reason: 'nothing happened' }), true)
    t.equal((await send(payingLess)).status, 201)
    t.equal(await left(), 1)
  },
)

t.test('a run that outlived its lease does not give back the hold of the next run', async t => {
  const { send, left, clock, recoverAs } = await setUp()
  let response: () => void = () => {}
  let reserved: () => void = () => {}
  const slow = new Promise<void>(resolve => (response = resolve))
  const held = new Promise<void>(resolve => (reserved = resolve))
  const first = send(async ({ reserve }) => {
    await reserve(TEN_CENTS)
    reserved()
    await slow
    return denied
  })
  await held
  clock.advance(60_000)
  recoverAs({ state: 'never_happened' })
  const second = await send(async ({ reserve }) => {
    const hold = await reserve(TEN_CENTS)
    if (!hold.ok) return denied
    hold.value.settle()
    return created
  })
  t.equal(second.status, 201)
  response()
  t.equal((await first).status, 503, 'another run has decided')
  t.equal(await left(), 0, 'the hold of the second run is kept')
})
