import { FEED_START } from '@gatewright/kernel'
import fc from 'fast-check'
import t from 'tap'
import * as internals from '../../harness/internals.ts'

const START = 1_767_225_600_000
const { createHistory, measuredFeed, quantileOf, REQUEST_SECONDS, STORE_CHECK_SECONDS } = internals

t.test('keeps 25 hours of outcomes in slots of five minutes', async t => {
  let now = START + 7000
  const history = createHistory({ now: () => now })
  for (const status of [200, 304, 404, 429, 503]) history.observe({ status, durationMs: 1 })
  const outcomes = { allowed: 2, refused: 1, limited: 1, failed: 1 }
  t.match(history.slots(), [{ at: START, outcomes }])
  now -= 600_000
  history.observe({ status: 200, durationMs: 1 })
  t.match(
    history.slots(),
    [{ at: START, outcomes: { allowed: 3 } }],
    'a clock that was set back opens no slot',
  )
  for (let slot = 1; slot <= 400; slot++) {
    now = START + slot * 300_000
    history.observe({ status: 200, durationMs: 1 })
  }
  t.equal(history.slots().length, 300)
  const last = now
  now = last + 90_000_000 - 1
  t.equal(history.slots().length, 1)
  now = last + 90_000_000
  t.equal(history.slots().length, 0)
})

t.test('counts requests by duration, also those longer than every bound', async t => {
  const history = createHistory({ now: () => START })
  for (const durationMs of [0.1, 0.11, 30_000, 30_001]) history.observe({ status: 200, durationMs })
  const [slot] = history.slots()
  const counts = REQUEST_SECONDS.map((seconds, at) => [seconds, slot?.durations[at]])
  t.same(
    counts.filter(([, count]) => count !== 0),
    [
      [0.0001, 1],
      [0.00025, 1],
      [30, 1],
    ],
  )
  t.equal(slot?.durations.at(-1), 1)
})

t.test('estimates quantiles within the bucket of the true one', async t => {
  t.equal(quantileOf(STORE_CHECK_SECONDS, [], 0.5), undefined)
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.00001, max: 1.9, noNaN: true }), { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.99),
      (values, quantile) => {
        const counts = [...STORE_CHECK_SECONDS, Infinity].map(() => 0)
        for (const value of values) counts[internals.bucketOf(STORE_CHECK_SECONDS, value)]! += 1
        const sorted = [...values].sort((one, other) => one - other)
        const exact = sorted[Math.max(0, Math.ceil(quantile * values.length) - 1)] as number
        const estimate = quantileOf(STORE_CHECK_SECONDS, counts, quantile) as number
        const bucket = internals.bucketOf(STORE_CHECK_SECONDS, exact)
        return estimate <= STORE_CHECK_SECONDS[bucket]! && estimate >= (STORE_CHECK_SECONDS[bucket - 1] ?? 0)
      },
    ),
  )
  t.equal(quantileOf([1, 2], [0, 0, 5], 0.5), 2, 'beyond the last bound')
})

t.test('counts the age of the feed from the start of the last read that reached its end', async t => {
  let now = 1000
  let entries = 0
  const page = () =>
    Array.from({ length: entries }, (_, at) => ({ kind: 'key', id: 'k', at, lane: 0, position: at }) as const)
  const measured = measuredFeed({ after: async () => page() }, { now: () => now })
  t.equal(measured.ageSeconds(), undefined)
  await measured.feed.after(FEED_START, 2)
  now = 3500
  t.equal(measured.ageSeconds(), 2.5)
  entries = 2
  await measured.feed.after(FEED_START, 2)
  t.equal(measured.ageSeconds(), 2.5, 'a full page may have a next one')
  const broken = measuredFeed({ after: async () => Promise.reject(new Error('down')) }, { now: () => now })
  await t.rejects(broken.feed.after(FEED_START, 2), /down/)
  t.equal(broken.ageSeconds(), undefined)
})
