import t from 'tap'
import { turnOf } from './turns.ts'

t.test('each case has its turn within as many days as there are turns', async t => {
  for (const [length, count] of [
    [19, 8],
    [31, 1],
    [4, 2],
    [3, 3],
    [2, 5],
  ] as const) {
    const cases = Array.from({ length }, (_, at) => at)
    const days = Array.from({ length: Math.ceil(length / count) }, (_, day) =>
      turnOf(cases, count, 20_000 + day),
    )
    t.ok(
      days.every(taken => taken.length === Math.min(length, count)),
      `${count} of ${length} a day`,
    )
    t.same(
      [...new Set(days.flat())].toSorted((one, other) => one - other),
      cases,
    )
  }
})
