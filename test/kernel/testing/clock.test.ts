import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'

t.test('moves only when the test moves it, forwards and backwards', async t => {
  const clock = manualClock()
  t.equal(clock.now(), Date.UTC(2026, 0, 1))
  t.equal(clock.now(), Date.UTC(2026, 0, 1))
  clock.advance(1500)
  t.equal(clock.now(), Date.UTC(2026, 0, 1, 0, 0, 1, 500))
  clock.advance(-500)
  t.equal(clock.now(), Date.UTC(2026, 0, 1, 0, 0, 1))
  clock.set(5)
  t.equal(clock.now(), 5)
})

t.test('starts at the given instant, independent of other clocks', async t => {
  const [one, two] = [manualClock(0), manualClock(100)]
  one.advance(1)
  t.same([one.now(), two.now()], [1, 100])
})
