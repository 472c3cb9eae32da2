// The replies of the scripts are lists of numbers, in which each counter says how many of them are its own.
import { readUsageReply } from '#packages/scope-guard/dist/storage/redis-encoding.js'
import t from 'tap'

const buckets = { oldest: 1, current: 3, newest: 4 }

t.test('reads what each counter has used, with no bucket of the next', t => {
  const counters = [{ counter: 'one', buckets }, 'plain', { counter: 'other', buckets }]
  t.same(readUsageReply([9, 2, 4, 1, 5, 3, 4, 7, 7, 0, 8, 0, 2, 2, 8], counters), [
    {
      used: 9,
      held: 2,
      buckets: [
        { bucket: 1, used: 5 },
        { bucket: 3, used: 4 },
      ],
    },
    { used: 7, held: 7 },
    { used: 8, held: 0, buckets: [{ bucket: 2, used: 8 }] },
  ])
  t.end()
})

t.test('is a fault if numbers are missing or left', t => {
  for (const reply of [[1, 1], [1, 1, 0, 5], [1, 1, 1], ['x', 1, 0], 5])
    t.throws(() => readUsageReply(reply, ['plain']), { name: 'Fault', code: 'ERR_STORE_REPLY' })
  t.end()
})
