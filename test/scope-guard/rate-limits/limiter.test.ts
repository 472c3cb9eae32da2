import { stat } from 'node:fs'
import { createRateLimit, type LimiterStore, type LimitOptions } from '@gatewright/scope-guard'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import t from 'tap'
import { bench, field } from '../issuer.ts'

const read = { operation: 'cards.list', allOf: [] }
const limit = (name: string, points: number, more: Partial<LimitOptions> = {}): LimitOptions => ({
  name,
  points,
  windowSeconds: 60,
  per: 'key',
  ...more,
})

/** A store whose replies about a bucket are fixed. It lists the limits that a point was given back to, a turn later. */
function fixedStore(remaining: number, msBeforeNext: number) {
  const given: string[] = []
  const store: LimiterStore = settings => {
    const limiter = new RateLimiterMemory(settings)
    limiter.consume = async () => {
      const reply = new RateLimiterRes(remaining, msBeforeNext)
      return remaining < 0 ? Promise.reject(reply) : reply
    }
    limiter.reward = async () => {
      await new Promise(resolve => setImmediate(resolve))
      given.push(settings.keyPrefix)
      return new RateLimiterRes(remaining + 1, msBeforeNext)
    }
    return limiter
  }
  return { store, given }
}

t.test('rounds the reset up to whole seconds, and to 1 at least', async t => {
  for (const [ms, seconds] of [
    [0, 1],
    [0.5, 1],
    [1000, 1],
    [1001, 2],
    [60_060, 61],
  ] as const) {
    const { store } = fixedStore(3, ms)
    const taken = await createRateLimit({ name: 'mints', points: 5, windowSeconds: 99, store }).take('key_1')
    if (!taken.ok) return t.fail('denied')
    t.equal(field(taken.value, 'RateLimit'), `"mints";r=3;t=${seconds}`)
  }
})

t.test('throws a fault for each number of a reply that says nothing', async t => {
  for (const [remaining, ms] of [
    [NaN, 1000],
    [Infinity, 1000],
    [1, NaN],
    [1, -1],
    [1, Infinity],
  ] as const) {
    const { store } = fixedStore(remaining, ms)
    const limit = createRateLimit({ name: 'mints', points: 5, windowSeconds: 60, store })
    await t.rejects(limit.take('key_1'), { name: 'Fault', code: 'ERR_STORE_REPLY' }, `${remaining} ${ms}`)
  }
})

t.test('gives a point back to a store while its window outlasts two calls and two seconds', async t => {
  const { now } = performance
  t.teardown(() => (performance.now = now))
  let time = Math.ceil(now.call(performance))
  performance.now = () => time
  for (const [ms, callMs, expected] of [
    [3000, 0, []],
    [3001, 0, ['shared']],
    [3500, 500, []],
    [3501, 500, ['shared']],
  ] as const) {
    const { store, given } = fixedStore(3, ms)
    const slow: LimiterStore = settings => {
      const limiter = store(settings)
      const { consume } = limiter
      limiter.consume = async key => {
        time += callMs
        return consume(key)
      }
      return limiter
    }
    const limits = [limit('shared', 5, { store: slow, storeTimeoutMs: 1000 }), limit('perSession', 1)]
    const { guard, bearer } = await bench({ limits })
    const authorization = await bearer()
    t.match(await guard.check({ authorization }, read), { ok: true })
    t.match(await guard.check({ authorization }, read), { details: { limit: 'perSession' } })
    t.same(given, expected, `before the denial, ${ms} ms ahead of the end of the window`)
  }
})

t.test('a limit that alone denies keeps its point; of several, each gives it back', async t => {
  const left = fixedStore(3, 60_000)
  const over = fixedStore(-1, 60_000)
  const denied = async (...limits: LimitOptions[]): Promise<readonly string[]> => {
    for (const { given } of [left, over]) given.length = 0
    const { guard, bearer } = await bench({ limits })
    t.match(await guard.check({ authorization: await bearer() }, read), { code: 'rate_limited' })
    return [...left.given, ...over.given]
  }
  const [a, b, c] = [
    limit('a', 5, { store: left.store }),
    limit('b', 5, { store: over.store }),
    limit('c', 5, { store: over.store }),
  ]
  t.same(await denied(b), [])
  t.same(await denied(a, b), ['a'])
  t.same(await denied(a, b, c), ['a', 'b', 'c'])
})

t.test(
  'gives back the points of the other limits when the store of one fails, and throws its fault',
  async t => {
    const { store, given } = fixedStore(3, 60_000)
    const down: LimiterStore = settings =>
      Object.assign(new RateLimiterMemory(settings), { consume: () => Promise.reject(new Error('down')) })
    const { guard, bearer } = await bench({
      limits: [limit('down', 5, { store: down }), limit('up', 5, { store })],
    })
    await t.rejects(guard.check({ authorization: await bearer() }, read), { code: 'ERR_STORE_UNAVAILABLE' })
    t.same(given, ['up'])
  },
)

t.test('names the limit with the longest wait of those that deny, and of equal ones the first', async t => {
  const short = fixedStore(-1, 5000)
  const long = fixedStore(-1, 9000)
  const named = async (...stores: (typeof short)[]): Promise<unknown> => {
    const limits = stores.map(({ store }, index) => limit(`limit${index}`, 1, { store }))
    const { guard, bearer } = await bench({ limits })
    const verdict = await guard.check({ authorization: await bearer() }, read)
    return verdict.ok || [verdict.details, verdict.retryAfterSeconds]
  }
  t.same(await named(short, long), [{ limit: 'limit1' }, 9])
  t.same(await named(long, short), [{ limit: 'limit0' }, 9])
  t.same(await named(long, long), [{ limit: 'limit0' }, 9])
})

t.test('counts per account, and per address where there is one', async t => {
  const account = await bench({ limits: [limit('perAccount', 1, { per: 'account' })] })
  const check = async (changes: object) =>
    (await account.guard.check({ authorization: await account.bearer(changes) }, read)).ok
  t.equal(await check({ accountId: 'acc_1', keyId: 'key_1' }), true)
  t.equal(await check({ accountId: 'acc_1', keyId: 'key_2', sessionId: 'ses_2' }), false)
  t.equal(await check({ accountId: 'acc_2', keyId: 'key_1' }), true)

  const { guard, bearer } = await bench({ limits: [limit('perAddress', 1, { per: 'address' })] })
  const authorization = await bearer()
  const from = async (address?: string) =>
    (await guard.check({ authorization, ...(address === undefined ? {} : { address }) }, read)).ok
  t.equal(await from('192.0.2.1'), true)
  t.equal(await from('192.0.2.1'), false)
  t.equal(await from('192.0.2.2'), true)
  for (let n = 0; n < 2; n++) t.equal(await from(), true, 'without an address no limit per address counts')
})

t.test('a limit on classes counts only operations of these classes', async t => {
  const { guard, bearer } = await bench({ limits: [limit('writes', 1, { classes: ['writes'] })] })
  const authorization = await bearer()
  const check = async (rule: object) => (await guard.check({ authorization }, { ...read, ...rule })).ok
  for (let n = 0; n < 2; n++) {
    t.equal(await check({ limit: 'reads' }), true)
    t.equal(await check({}), true)
  }
  t.equal(await check({ limit: 'writes' }), true)
  t.equal(await check({ limit: 'writes' }), false)
})

t.test(
  'names the bucket of an id of up to 64 characters by the id, and of a longer one by a digest',
  async t => {
    const keys: string[] = []
    const store: LimiterStore = settings => {
      const limiter = new RateLimiterMemory(settings)
      const consume: typeof limiter.consume = (key, ...rest) => {
        keys.push(String(key))
        return RateLimiterMemory.prototype.consume.call(limiter, key, ...rest)
      }
      return Object.assign(limiter, { consume })
    }
    const { guard, bearer } = await bench({ limits: [limit('perKey', 5, { store })] })
    for (const length of [64, 65]) {
      const authorization = await bearer({ keyId: 'k'.repeat(length) })
      t.match(await guard.check({ authorization }, read), { ok: true })
    }
    t.equal(keys[0], 'k'.repeat(64))
    t.match(keys[1], /^[A-Za-z0-9_-]{43}$/)
  },
)

t.test('waits two seconds for a store, unless the option says otherwise', async t => {
  const delays: unknown[] = []
  const real = globalThis.setTimeout
  const recorded = (...args: Parameters<typeof real>): ReturnType<typeof real> => {
    delays.push(args[1])
    return real(...args)
  }
  globalThis.setTimeout = Object.assign(recorded, real)
  t.teardown(() => {
    globalThis.setTimeout = real
  })
  const { store } = fixedStore(3, 1000)
  const options = { name: 'mints', points: 5, windowSeconds: 60, store }
  await createRateLimit(options).take('key_1')
  await createRateLimit({ ...options, storeTimeoutMs: 777 }).take('key_1')
  t.same(delays, [2000, 777])
})

t.test('takes a reply that came in time, though the process was too busy to read it', async t => {
  const { store } = fixedStore(3, 1000)
  // The file system replies from another thread, as a server does, while this one is busy.
  const replying: LimiterStore = settings =>
    Object.assign(store(settings), {
      consume: () =>
        new Promise(resolve => stat('.', () => resolve({ remainingPoints: 3, msBeforeNext: 1000 }))),
    })
  const limits = createRateLimit({
    name: 'mints',
    points: 5,
    windowSeconds: 60,
    store: replying,
    storeTimeoutMs: 20,
  })
  const taken = limits.take('key_1')
  await Promise.resolve()
  const until = performance.now() + 300
  while (performance.now() < until);
  t.match(await taken, { ok: true })
})

t.test('accepts each number up to its bound, and names the option of a number beyond', t => {
  const { store } = fixedStore(3, 1000)
  const make = (changes: object) =>
    createRateLimit({ name: 'mints', points: 5, windowSeconds: 60, store, ...changes })
  const bounds = {
    points: 1_000_000_000,
    windowSeconds: 2_592_000,
    storeTimeoutMs: 60_000,
    localPoints: 1_000_000_000,
  }
  for (const [option, most] of Object.entries(bounds)) {
    for (const value of [1, most]) t.doesNotThrow(() => make({ [option]: value }), `${option} ${value}`)
    for (const value of [0, most + 1, 1.5, '1'])
      t.throws(() => make({ [option]: value }), {
        name: 'TypeError',
        message: `createRateLimit: ${option} must be an integer from 1 to ${most}`,
      })
  }
  t.doesNotThrow(() => make({ name: 'x'.repeat(64) }))
  for (const name of ['', 'a b', '1a', 'x'.repeat(65), 7, undefined])
    t.throws(() => make({ name }), { name: 'TypeError', message: /^createRateLimit: name must be a letter/ })
  for (const option of ['per', 'classes', 'point'])
    t.throws(() => make({ [option]: 'key' }), { name: 'TypeError', message: new RegExp(`"${option}"`) })
  t.end()
})
