import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import type { Guard, LimiterStore, LimitOptions } from '@gatewright/scope-guard'
import fc from 'fast-check'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import t, { type Test } from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { collectGarbage } from '../../harness/collect-garbage.ts'
import { bench, field, session, type Bench } from '../issuer.ts'

const read = { operation: 'cards.list', allOf: [] }
const money = { operation: 'withdrawals.create', allOf: [], spends: 'withdrawal', limit: 'writes' } as const

/** A store that counts in memory until a test makes it fail. */
function store() {
  const state = { fail: undefined as undefined | (() => Promise<RateLimiterRes>), given: [] as string[] }
  const make: LimiterStore = settings => {
    const limiter = new RateLimiterMemory(settings)
    const consume = limiter.consume.bind(limiter)
    const reward = limiter.reward.bind(limiter)
    limiter.consume = (key, ...rest) => (state.fail ? state.fail() : consume(key, ...rest))
    limiter.reward = (key, ...rest) => {
      state.given.push(settings.keyPrefix)
      return reward(key, ...rest)
    }
    return limiter
  }
  return { state, make }
}
const limit = (name: string, points: number, more: Partial<LimitOptions> = {}): LimitOptions => ({
  name,
  points,
  windowSeconds: 60,
  per: 'key',
  ...more,
})

/** Holds the machine's clock, which the library's limiter reads. */
function machineClock(test: Test): ManualClock {
  const clock = manualClock()
  const real = Date.now
  Date.now = clock.now
  test.teardown(() => {
    Date.now = real
  })
  return clock
}

const NOWHERE = { authorization: undefined }

/** What a caller sees of a decision about limits. */
function decided(verdict: Awaited<ReturnType<Guard['check']>>) {
  const { headers, evidence } = verdict.ok ? verdict.value : verdict
  return { headers, limits: evidence?.limits, code: verdict.ok || verdict.code }
}

t.test('counts several limits and lists them all in the fields', async t => {
  const limits = [
    limit('perKey', 10),
    limit('perSession', 5, { per: 'session' }),
    limit('writes', 3, { classes: ['writes'] }),
  ]
  const { guard, bearer } = await bench({ limits })
  const authorization = await bearer()
  const reading = await guard.check({ authorization }, read)
  if (!reading.ok) return t.fail('denied')
  t.equal(field(reading.value.headers, 'RateLimit-Policy'), '"perKey";q=10;w=60, "perSession";q=5;w=60')
  const writing = await guard.check({ authorization }, money)
  if (!writing.ok) return t.fail('denied')
  t.equal(
    field(writing.value.headers, 'RateLimit'),
    '"perKey";r=8;t=60, "perSession";r=3;t=60, "writes";r=2;t=60',
  )
  t.same(
    writing.value.evidence.limits.map(({ name, remaining }) => [name, remaining]),
    [
      ['perKey', 8],
      ['perSession', 3],
      ['writes', 2],
    ],
  )
})

t.test('gives back the points of the other limits when one limit denies the request', async t => {
  const limits = [limit('perKey', 10), limit('perSession', 1, { per: 'session' })]
  const { guard, bearer } = await bench({ limits })
  const authorization = await bearer()
  t.match(await guard.check({ authorization }, read), { ok: true })
  for (let i = 0; i < 20; i++) {
    t.match(await guard.check({ authorization }, read), {
      code: 'rate_limited',
      details: { limit: 'perSession' },
    })
  }
  // 20 denials took nothing from the key: a second session still has the other 9 points.
  const next = await guard.check({ authorization: await bearer({ sessionId: 'ses_2' }) }, read)
  t.match(next, { value: { evidence: { limits: [{ name: 'perKey', remaining: 8 }] } } })
})

t.test('accepts exactly the points of a window, however many requests are simultaneous', async t => {
  const { guard, bearer } = await bench({ limits: [limit('perKey', 20)] })
  const authorization = await bearer()
  const all = await Promise.all(Array.from({ length: 100 }, async () => guard.check({ authorization }, read)))
  t.equal(all.filter(({ ok }) => ok).length, 20)
})

t.test(
  'accepts at most twice the points in a period of one window length that overlaps two windows',
  async t => {
    const { guard, bearer, clock } = await bench({ limits: [limit('perKey', 5)] })
    const authorization = await bearer()
    const burst = async (): Promise<number> => {
      const all = await Promise.all(
        Array.from({ length: 20 }, async () => guard.check({ authorization }, read)),
      )
      return all.filter(({ ok }) => ok).length
    }
    // The window starts with its first request; the rest come in its last millisecond and the next window's first.
    t.match(await guard.check({ authorization }, read), { ok: true })
    clock.advance(59_999)
    t.equal(await burst(), 4)
    clock.advance(1)
    t.equal(await burst(), 5)
    clock.advance(59_998)
    t.equal(await burst(), 0)
  },
)

t.test('counts in memory as a store does, over any calls and windows', async t => {
  const machine = machineClock(t)
  const call = fc.tuple(fc.constantFrom('ses_1', 'ses_2'), fc.constantFrom(0, 1, 30_000, 59_999, 60_000))
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(call), async (points, calls) => {
      const per = { per: 'session' } as const
      const ours = await bench({ limits: [limit('limit', points, per)] })
      const store: LimiterStore = settings => new RateLimiterMemory(settings)
      const theirs = await bench({ limits: [limit('limit', points, { store, ...per })] })
      for (const [sessionId, afterMs] of calls) {
        for (const clock of [machine, ours.clock]) clock.advance(afterMs)
        const asked = ({ guard, clock }: Bench) =>
          guard.authorize(session(clock.now(), { sessionId }), NOWHERE, read)
        t.strictSame(decided(await asked(ours)), decided(await asked(theirs)))
      }
    }),
    { numRuns: randomCases(50) },
  )
})

t.test('a window ends when it is over to the millisecond, and also when the clock was set back', async t => {
  const windowSeconds = 2_592_000
  const { guard, clock } = await bench({ limits: [limit('perKey', 1, { windowSeconds })] })
  const start = clock.now()
  const passes = async (): Promise<boolean> => (await guard.authorize(session(clock.now()), NOWHERE, read)).ok
  t.equal(await passes(), true)
  for (const [time, expected] of [
    [start + windowSeconds * 1000 - 1, false],
    [start + windowSeconds * 1000, true],
    [start + windowSeconds * 1000, false],
    // The window that began last ends at most one window later than this.
    [start + windowSeconds * 1000 - 1, true],
    [start + windowSeconds * 1000 - 1, false],
  ] as const) {
    clock.set(time)
    t.equal(await passes(), expected, `${time - start} ms after the first request`)
  }
})

t.test('a point is not returned to the next window of its bucket', async t => {
  const late: (() => void)[] = []
  const held: LimiterStore = settings => {
    const limiter = new RateLimiterMemory(settings)
    limiter.consume = () =>
      new Promise((_, reject) => void late.push(() => reject(new RateLimiterRes(0, 1000))))
    return limiter
  }
  const { guard, clock } = await bench({ limits: [limit('ours', 2), limit('theirs', 1, { store: held })] })
  const check = (): ReturnType<Guard['check']> => guard.authorize(session(clock.now()), NOWHERE, read)
  const first = check()
  while (late.length < 1) await new Promise(setImmediate)
  clock.advance(60_000)
  const second = check()
  while (late.length < 2) await new Promise(setImmediate)
  late[0]?.()
  t.match(await first, { details: { limit: 'theirs' } }, 'its point was of the window before')
  const third = check()
  while (late.length < 3) await new Promise(setImmediate)
  late[2]?.()
  t.match(await third, { evidence: { limits: [{ name: 'ours', remaining: 0 }, {}] } })
  late[1]?.()
  await second
})

t.test('keeps no windows that ended long ago', async t => {
  const { guard, clock } = await bench({ limits: [limit('perKey', 1, { windowSeconds: 1 })] })
  const heapAfterKeys = async (round: number): Promise<number> => {
    for (let n = 0; n < 20_000; n++)
      await guard.authorize(session(clock.now(), { keyId: `key_${round}_${n}` }), NOWHERE, read)
    clock.advance(1000)
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const first = await heapAfterKeys(0)
  for (let round = 1; round < 4; round++) await heapAfterKeys(round)
  const grownBytes = (await heapAfterKeys(4)) - first
  t.ok(grownBytes < 2 ** 20, `80 000 more keys took ${grownBytes} bytes`)
})

t.test('throws a fault for money operations while the store is down, and never denies with 429', async t => {
  const { state, make } = store()
  const { guard, bearer } = await bench({ limits: [limit('perKey', 5, { store: make, localPoints: 2 })] })
  const authorization = await bearer()
  t.match(await guard.check({ authorization }, money), { ok: true })
  state.fail = () => Promise.reject(new Error('connect ECONNREFUSED'))
  await t.rejects(async () => guard.check({ authorization }, money), {
    name: 'Fault',
    code: 'ERR_STORE_UNAVAILABLE',
  })
})

t.test(
  'counts money operations by local points while the store is down where localSpends says so',
  async t => {
    const { state, make } = store()
    const { guard, bearer } = await bench({
      limits: [limit('perKey', 5, { store: make, localPoints: 2, localSpends: true })],
    })
    const authorization = await bearer()
    state.fail = () => Promise.reject(new Error('connect ECONNREFUSED'))
    t.match(await guard.check({ authorization }, money), { ok: true })
    t.match(await guard.check({ authorization }, read), { ok: true })
    t.match(await guard.check({ authorization }, money), { code: 'rate_limited' }, 'reads count too')
  },
)

t.test(
  'uses the configured local points for reads while the store is down, and only if configured',
  async t => {
    const { state, make } = store()
    const { guard, bearer } = await bench({ limits: [limit('perKey', 5, { store: make, localPoints: 2 })] })
    const authorization = await bearer()
    state.fail = () => Promise.reject(new Error('connect ECONNREFUSED'))
    t.match(await guard.check({ authorization }, read), { ok: true })
    t.match(await guard.check({ authorization }, read), { ok: true })
    t.match(await guard.check({ authorization }, read), { code: 'rate_limited', retryAfterSeconds: 60 })
    const strict = await bench({ limits: [limit('perKey', 5, { store: make })] })
    const spared = await strict.bearer()
    await t.rejects(async () => strict.guard.check({ authorization: spared }, read), { name: 'Fault' })
  },
)

t.test('gives a point back to this process if this process counted it', async t => {
  const { state, make } = store()
  const limits = [
    limit('perKey', 5, { store: make, localPoints: 2 }),
    limit('perSession', 1, { per: 'session' }),
  ]
  const { guard, bearer } = await bench({ limits })
  const authorization = await bearer()
  state.fail = () => Promise.reject(new Error('connect ECONNREFUSED'))
  t.match(await guard.check({ authorization }, read), { ok: true })
  t.match(await guard.check({ authorization }, read), { code: 'rate_limited' })
  t.same(state.given, [], 'the store took no point')
  t.match(await guard.check({ authorization: await bearer({ sessionId: 'ses_2' }) }, read), { ok: true })
})

t.test('treats a slow store as down, and a malformed reply as a fault', async t => {
  const nonsense = Object.assign(new RateLimiterRes(), { remainingPoints: NaN, msBeforeNext: NaN })
  const cases: [string, () => Promise<RateLimiterRes>][] = [
    ['ERR_STORE_UNAVAILABLE', () => new Promise(() => {})],
    ['ERR_STORE_REPLY', async () => nonsense],
    ['ERR_STORE_REPLY', () => Promise.reject(nonsense)],
  ]
  for (const [code, fail] of cases) {
    const { state, make } = store()
    const { guard, bearer } = await bench({
      limits: [limit('perKey', 5, { store: make, storeTimeoutMs: 20 })],
    })
    const authorization = await bearer()
    state.fail = fail
    await t.rejects(async () => guard.check({ authorization }, read), { name: 'Fault', code })
  }
})

t.test('denies every failed credential with 401 and charges no key for it', async t => {
  const { guard, bearer } = await bench({
    limits: [limit('perKey', 3)],
    failedCredentials: { points: 3, windowSeconds: 60 },
  })
  const authorization = await bearer()
  const forged = `${authorization.slice(0, -8)}AAAAAAAA`
  const attack = (address: string, n: number) =>
    guard.check({ authorization: forged, address }, { operation: `a.b${n}`, allOf: [] })
  for (let n = 0; n < 9; n++) t.match(await attack('2001:db8::1', n), { code: 'unauthorized' })
  t.match(await attack('2001:db8::2', 9), { code: 'unauthorized' }, 'one at a time never overflows the lane')
  // The owner, elsewhere, has every point; and passes from the attacked address as well.
  t.match(await guard.check({ authorization, address: '192.0.2.1' }, read), {
    value: { evidence: { limits: [{ remaining: 2 }] } },
  })
  t.match(await guard.check({ authorization, address: '2001:db8::1' }, read), { ok: true })
})

t.test('rejects a limit without a valid `per`', async t => {
  for (const per of [undefined, null, 'user', 'Key', 'ip', '']) {
    const limit = { name: 'writes', points: 1, windowSeconds: 1, per: per as never }
    const given = typeof per === 'string' ? JSON.stringify(per) : String(per)
    const message = `createGuard limits[0]: per must be "key", "session", "account" or "address", not ${given}`
    await t.rejects(bench({ limits: [limit] }), { name: 'TypeError', message })
  }
})
