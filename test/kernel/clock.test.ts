import { systemClock } from '@gatewright/kernel/internal'
import t from 'tap'

t.test('returns the wall clock in whole milliseconds', async t => {
  const before = Date.now()
  const now = systemClock.now()
  t.ok(before <= now && now <= Date.now())
  t.ok(Number.isSafeInteger(now))
})
