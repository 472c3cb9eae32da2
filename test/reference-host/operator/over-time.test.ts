import t from 'tap'
import * as internals from '../../harness/internals.ts'

const { createHistory, overTime } = internals
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.UTC(2027, 0, 1)

interface Hour {
  readonly requestsPerMinute: number
  readonly refusedShare: number | null
  readonly failed: number
  readonly p99Ms: number | null
}
interface Figures {
  readonly hour: Hour
  readonly dayBefore: Hour | null
  readonly slots: readonly { readonly at: string; readonly p99Ms: number | null }[]
}

/** A history, its clock, and what the page gets. */
function started(at = START) {
  const clock = { at }
  const history = createHistory({ now: () => clock.at })
  const observe = (status: number, times: number, durationMs = 1): void => {
    for (let n = 0; n < times; n++) history.observe({ status, durationMs })
  }
  return { clock, observe, figures: () => overTime.decisions(history, clock.at) as Figures }
}

t.test('has no rates before the first request', async t => {
  const { hour, dayBefore } = started().figures()
  t.same(hour, { requestsPerMinute: 0, refusedShare: null, failed: 0, p99Ms: null })
  t.equal(dayBefore, null)
})

t.test('counts the requests of the time that the host has run, of an hour at most', async t => {
  const { clock, observe, figures } = started()
  observe(200, 30)
  clock.at = START + 30_000
  t.equal(figures().hour.requestsPerMinute, 30, 'a first minute is a whole one')
  clock.at = START + 10 * MINUTE
  t.equal(figures().hour.requestsPerMinute, 3)
  clock.at = START + HOUR - 1
  t.equal(Math.round(figures().hour.requestsPerMinute * 60), 30)
  clock.at = START + HOUR
  t.equal(figures().hour.requestsPerMinute, 0, 'the slot of the start is over')
})

t.test('refusals are denials and rate limits, failures are those of the host', async t => {
  const { observe, figures } = started()
  observe(200, 6)
  observe(403, 2)
  observe(429, 1)
  observe(503, 1)
  t.match(figures().hour, { refusedShare: 0.3, failed: 1 })
})

t.test('estimates the 99th percentile of the hour and of each slot', async t => {
  const { clock, observe, figures } = started()
  observe(200, 98, 0.9)
  observe(200, 2, 400)
  const p99 = figures().hour.p99Ms as number
  t.ok(p99 > 250 && p99 <= 500, String(p99))
  t.equal(figures().slots[0]?.p99Ms, p99)
  clock.at = START + 5 * MINUTE
  observe(200, 10_000, 0.9)
  t.ok((figures().hour.p99Ms as number) <= 1, 'those of two slots add up')
})

t.test('compares with the same hour of the day before, if the host ran all of it', async t => {
  const { clock, observe, figures } = started()
  // The hour of 12:00 to 13:00.
  clock.at = START + 12 * HOUR - 1
  observe(500, 7)
  clock.at = START + 12 * HOUR
  observe(200, 60)
  clock.at = START + 13 * HOUR - 1
  observe(403, 60)
  clock.at = START + 13 * HOUR
  observe(500, 9)
  clock.at = START + DAY + 13 * HOUR - 1
  t.match(figures().dayBefore, { requestsPerMinute: 2, refusedShare: 0.5, failed: 0 })
  // Its 12 slots are those that ended by now, yesterday.
  clock.at = START + DAY + 13 * HOUR
  t.match(figures().dayBefore, { failed: 9, refusedShare: 60 / 69 })

  const late = started(START + 1)
  late.clock.at = START + DAY + HOUR - 5 * MINUTE
  t.equal(late.figures().dayBefore, null, 'it began a moment after the hour')
  late.clock.at = START + DAY + HOUR
  t.same(late.figures().dayBefore, { requestsPerMinute: 0, refusedShare: null, failed: 0, p99Ms: null })
})
