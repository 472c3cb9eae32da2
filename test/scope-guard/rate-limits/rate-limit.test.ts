import { manualClock } from '@gatewright/kernel/testing'
import { createRateLimit, type LimiterStore } from '@gatewright/scope-guard'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import t from 'tap'
import { field } from '../issuer.ts'

t.test('counts per bucket and denies with the same fields as a guarded request', async t => {
  const limit = createRateLimit({ name: 'mints', points: 1, windowSeconds: 60 })
  const first = await limit.take('key_1')
  if (!first.ok) return t.fail('denied')
  t.equal(field(first.value, 'RateLimit-Policy'), '"mints";q=1;w=60')
  const second = await limit.take('key_1')
  t.match(second, { code: 'rate_limited', status: 429, retryAfterSeconds: 60 })
  if (!second.ok) t.equal(field(second.headers, 'Retry-After'), '60')
  t.match(await limit.take('key_2'), { ok: true })
})

t.test('accepts requests again when its window has ended on the given clock', async t => {
  const clock = manualClock()
  const limit = createRateLimit({ name: 'mints', points: 1, windowSeconds: 60 }, clock)
  t.match(await limit.take('key_1'), { ok: true })
  clock.advance(59_999)
  t.match(await limit.take('key_1'), { code: 'rate_limited', retryAfterSeconds: 1 })
  clock.advance(1)
  t.match(await limit.take('key_1'), { ok: true })
})

t.test(
  'counts in this process while the store is down if it has localPoints, and otherwise throws a fault',
  async t => {
    const down: LimiterStore = settings => {
      const limiter = new RateLimiterMemory(settings)
      limiter.consume = () => Promise.reject(new Error('down'))
      return limiter
    }
    const open = createRateLimit({ name: 'mints', points: 5, windowSeconds: 60, store: down, localPoints: 1 })
    t.match(await open.take('key_1'), { ok: true })
    t.match(await open.take('key_1'), { code: 'rate_limited' })
    const shut = createRateLimit({ name: 'mints', points: 5, windowSeconds: 60, store: down })
    await t.rejects(shut.take('key_1'), { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' })
  },
)
