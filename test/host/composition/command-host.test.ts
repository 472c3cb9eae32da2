// What the operator is told when a command or a start fails.
import { Fault } from '@gatewright/kernel'
import t from 'tap'
import { problemOf } from '#packages/host/dist/composition/command-host.js'

t.test('says why a store failed, also where the error of its driver has no message', async t => {
  class TimeoutError extends Error {}
  const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
  for (const [cause, message] of [
    [new Error('database is locked'), 'store failed: database is locked'],
    [refused, 'store failed: ECONNREFUSED'],
    [new TimeoutError(), 'store failed: TimeoutError'],
    [undefined, 'store failed: ERR_STORE_UNAVAILABLE'],
  ] as const) {
    const fault = new Fault('ERR_STORE_UNAVAILABLE', 'store failed', { cause })
    t.same(problemOf(fault), { error: 'ERR_STORE_UNAVAILABLE', message })
  }
})
