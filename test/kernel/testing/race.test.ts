import { race } from '@gatewright/kernel/testing'
import t from 'tap'

t.test('starts every call before any of them continues', async t => {
  const events: string[] = []
  const results = await race(3, async index => {
    events.push(`start ${index}`)
    await new Promise(resolve => setImmediate(resolve))
    events.push(`end ${index}`)
    return index * 10
  })
  t.same(results, [0, 10, 20])
  t.same(events.slice(0, 3), ['start 0', 'start 1', 'start 2'])
  t.equal(events.length, 6)
})

t.test('rejects when one call rejects: a fault is not a lost race', async t => {
  const calls = race(3, index => (index === 1 ? Promise.reject(new Error('down')) : Promise.resolve(false)))
  await t.rejects(calls, { message: 'down' })
})
