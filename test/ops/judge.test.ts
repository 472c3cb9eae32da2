import t from 'tap'
import {
  compareWrites,
  countResponses,
  judgeReadiness,
  longestGapMs,
  type Attempt,
  type ReadinessSample,
} from './judge.ts'

const attempt = (endedAt: number, status?: number, sentAt = endedAt - 10): Attempt => ({
  host: 'a',
  sentAt,
  endedAt,
  ...(status === undefined ? {} : { status }),
})
/** Four samples in each second, as `ready` says. */
const says = (ready: (at: number) => boolean, lostHistory = false): ReadinessSample[] =>
  Array.from({ length: 81 }, (_, n) => ({ host: 'a', at: n * 250, ready: ready(n * 250), lostHistory }))
/** A response each half second. */
const each = (from: number, to: number, status?: number): Attempt[] =>
  Array.from({ length: (to - from) / 500 }, (_, n) => attempt(from + n * 500, status))
const NOTICE = 5000

t.test('counts responses by kind', async t => {
  const attempts = [200, 299, 400, 499, 500, 599].map(status => attempt(0, status))
  t.same(countResponses([...attempts, attempt(0)]), { sent: 7, ok: 2, denied: 2, failed: 2, unanswered: 1 })
})

t.test('finds acknowledged writes that are missing, and writes that are there twice', async t => {
  const write = (id: string) => ({ id, acknowledgedAt: 1 })
  const acknowledged = [write('1'), write('2'), write('3')]
  t.same(compareWrites(acknowledged, ['1', '2', '3']), { lost: [], doubled: 0 })
  t.same(compareWrites(acknowledged, ['1', '3']), { lost: [write('2')], doubled: 0 })
  t.same(compareWrites(acknowledged, ['1', '2', '2', '3']), { lost: [], doubled: 1 })
  t.same(compareWrites(acknowledged, ['1', '2', '3', 'other']), { lost: [], doubled: 1 })
})

t.test('finds the longest time without success, also at the end', async t => {
  t.equal(longestGapMs([attempt(100, 200, 0), attempt(500, 200), attempt(600, 503)]), 400)
  t.equal(longestGapMs([attempt(100, 200, 0), attempt(900, 503)]), 800)
})

t.test('finds hosts that stay ready while writes fail', async t => {
  const writes = [...each(0, 4000, 200), ...each(4000, 20_500, 503)]
  const judged = (ready: (at: number) => boolean): number =>
    judgeReadiness(says(ready), writes, NOTICE).readyWhileFailing
  t.equal(
    judged(() => true),
    14,
    'from 7 s on half of the last 5 s failed',
  )
  t.equal(
    judged(at => at < 6750),
    0,
    'it noticed in time',
  )
  t.equal(
    judged(at => at <= 7000),
    1,
    'it noticed too late',
  )
  const half = [...each(0, 20_500, 503), ...each(250, 20_250, 200)]
  t.equal(
    judgeReadiness(
      says(() => true),
      half,
      NOTICE,
    ).readyWhileFailing,
    16,
  )
  const fewer = [...half, ...each(100, 20_100, 200)]
  t.equal(
    judgeReadiness(
      says(() => true),
      fewer,
      NOTICE,
    ).readyWhileFailing,
    0,
  )
})

t.test('counts a write that waits all the time as failing', async t => {
  t.equal(
    judgeReadiness(
      says(() => true),
      [attempt(20_250, 200, -1)],
      NOTICE,
    ).readyWhileFailing,
    16,
  )
  t.equal(
    judgeReadiness(
      says(() => true),
      [attempt(20_250, 200, 0)],
      NOTICE,
    ).readyWhileFailing,
    15,
  )
})

t.test('finds hosts that stay not ready while writes succeed', async t => {
  const writes = [...each(0, 4000, 503), ...each(4000, 20_500, 200)]
  const judged = (ready: boolean, lostHistory = false): number =>
    judgeReadiness(
      says(() => ready, lostHistory),
      writes,
      NOTICE,
    ).notReadyWhileWorking
  t.equal(judged(false), 12)
  t.equal(judged(true), 0)
  t.equal(judged(false, true), 0, 'history is lost')
  const rare = Array.from({ length: 10 }, (_, n) => attempt(n * 2001, 200))
  t.equal(
    judgeReadiness(
      says(() => false),
      rare,
      NOTICE,
    ).notReadyWhileWorking,
    0,
  )
  const often = Array.from({ length: 11 }, (_, n) => attempt(n * 2000, 200))
  t.equal(
    judgeReadiness(
      says(() => false),
      often,
      NOTICE,
    ).notReadyWhileWorking,
    16,
  )
})
