import { RateLimiterMemory } from 'rate-limiter-flexible'
import { manualClock } from '@gatewright/kernel/testing'
import type { LimiterStore } from '@gatewright/scope-guard'
import t from 'tap'
import * as internals from '../../harness/internals.ts'

const { entryLimits, guardLimits, keyUseLimits } = internals
const RATE_LIMITS = {
  guardedPerKeyPerMinute: 10,
  writesPerSessionPerMinute: 11,
  writesPerAccountPerMinute: 12,
  bootstrapPerAddressPerMinute: 1,
  failedCredentialsPerAddressPerMinute: 2,
  mintsPerKeyPerMinute: 3,
  mintsPerAccountPerMinute: 4,
  documentsPerAddressPerMinute: 5,
  tokenChecksPerAddressPerMinute: 6,
  pollsPerAddressPerMinute: 7,
}
const config = (rateLimits: unknown): never => ({ rateLimits }) as never
const TAKEN_BY = {
  bootstrap: 'bootstrapPerAddressPerMinute',
  mint: 'mintsPerKeyPerMinute',
  mintOfAccount: 'mintsPerAccountPerMinute',
  document: 'documentsPerAddressPerMinute',
  tokenCheck: 'tokenChecksPerAddressPerMinute',
  poll: 'pollsPerAddressPerMinute',
} as const
const names = Object.keys(TAKEN_BY) as (keyof typeof TAKEN_BY)[]
/** What each store that was made counts, by its name. */
const made = new Map<string, { points: number; duration: number }>()
const store: LimiterStore = settings => {
  made.set(settings.keyPrefix, settings)
  return new RateLimiterMemory(settings)
}
const down: LimiterStore = settings =>
  Object.assign(new RateLimiterMemory(settings), {
    consume: () => Promise.reject(new Error('down')),
  })

t.test('takes as many requests of each kind as configured, in a minute and for each bucket', async t => {
  for (const backend of [{}, { limiter: store }, { limiter: down }]) {
    const limits = entryLimits(config(RATE_LIMITS), backend, manualClock())
    for (const name of names) {
      const points = RATE_LIMITS[TAKEN_BY[name]]
      for (let count = 0; count < points; count += 1) t.match(await limits[name]('a'), { ok: true }, name)
      const denial = await limits[name]('a')
      t.match(denial, { ok: false, code: 'rate_limited', details: { limit: TAKEN_BY[name] } }, name)
      t.match(await limits[name]('b'), { ok: true })
    }
  }
  const shared = [...made].map(([prefix, { points, duration }]) => [
    prefix.split(':').at(-1),
    points,
    duration,
  ])
  t.notOk(
    shared.some(([prefix]) => String(prefix).includes('documents')),
    'documents are counted in the process',
  )
  t.equal(made.size, 6)
  for (const { duration } of made.values()) t.equal(duration, 60)
})

t.test("accepts requests of each kind again when a minute has passed on the host's clock", async t => {
  const clock = manualClock()
  const limits = entryLimits(config(RATE_LIMITS), {}, clock)
  for (const name of names)
    for (let count = 0; count < RATE_LIMITS[TAKEN_BY[name]]; count += 1) await limits[name]('a')
  clock.advance(59_999)
  for (const name of names) t.match(await limits[name]('a'), { code: 'rate_limited' }, name)
  clock.advance(1)
  for (const name of names) t.match(await limits[name]('a'), { ok: true }, name)
})

t.test("forgets failed keys of an address when a minute has passed on the host's clock", async t => {
  const clock = manualClock()
  const { failedKeys } = entryLimits(config(RATE_LIMITS), {}, clock)
  const isDemoted = async (): Promise<boolean> => {
    const check = (): Promise<string> => new Promise(resolve => setImmediate(() => resolve('ran')))
    const checks = Array.from({ length: 400 }, () => failedKeys.runWithinLimit('192.0.2.1', check))
    return (await Promise.all(checks)).some(result => result !== 'ran')
  }
  for (let n = 0; n < RATE_LIMITS.failedCredentialsPerAddressPerMinute; n += 1)
    await failedKeys.charge('192.0.2.1')
  t.equal(await isDemoted(), true)
  clock.advance(60_000)
  t.equal(await isDemoted(), false)
})

t.test('limits nothing when limits are off', async t => {
  const limits = entryLimits(config('off'), {}, manualClock())
  for (const name of names)
    for (let count = 0; count < 10; count += 1) t.same(await limits[name]('a'), { ok: true, value: [] })
  t.same(guardLimits(config('off'), {}), { limits: [], failedCredentials: 'off' })
  t.same(keyUseLimits(config('off'), {}), [])
})

t.test('names the limits of guarded requests, each with its own counts and the shared store', async t => {
  for (const backend of [{}, { limiter: store }]) {
    const shared = 'limiter' in backend ? { store } : {}
    const ofProcess = (points: number) => ({
      localSpends: true,
      ...('limiter' in backend ? { localPoints: points } : {}),
    })
    const window = { windowSeconds: 60, ...shared }
    t.same(guardLimits(config(RATE_LIMITS), backend), {
      limits: [
        { name: 'guardedPerKeyPerMinute', points: 10, per: 'key', ...window, ...ofProcess(10) },
        {
          name: 'writesPerSessionPerMinute',
          points: 11,
          per: 'session',
          classes: ['write', 'ending'],
          ...window,
          ...ofProcess(11),
        },
        {
          name: 'writesPerAccountPerMinute',
          points: 12,
          per: 'account',
          classes: ['write'],
          ...window,
          ...ofProcess(12),
        },
      ],
      failedCredentials: { points: 2, ...shared },
    })
    t.same(keyUseLimits(config(RATE_LIMITS), backend), [
      { name: 'usesPerKeyPerMinute', points: 10, per: 'key', ...window, ...ofProcess(10) },
    ])
  }
})
