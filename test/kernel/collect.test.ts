import { collectBatches } from '@gatewright/kernel'
import t from 'tap'

/** A collection of rows that are due. */
function dueRows(count: number): { left: number; collect(limit: number): Promise<number> } {
  const due = {
    left: count,
    async collect(limit: number) {
      const deleted = Math.min(limit, due.left)
      due.left -= deleted
      return deleted
    },
  }
  return due
}

t.test('deletes batch after batch until fewer rows than the limit were due', async t => {
  for (const count of [0, 9, 10, 25]) {
    const due = dueRows(count)
    t.equal(await collectBatches(due.collect, 10), count)
    t.equal(due.left, 0)
  }
})

t.test('ends after 100 batches although more rows are due', async t => {
  const due = dueRows(100_000)
  t.equal(await collectBatches(due.collect, 10), 1000)
})

t.test('deletes no further batch once the signal aborts', async t => {
  const due = dueRows(100)
  const stopping = new AbortController()
  const collect = async (limit: number): Promise<number> => {
    if (due.left === 80) stopping.abort()
    return due.collect(limit)
  }
  t.equal(await collectBatches(collect, 10, stopping.signal), 30)
  t.equal(await collectBatches(collect, 10, stopping.signal), 0)
})

t.test('lets other work run between two batches', async t => {
  const due = dueRows(100)
  let hasRun = false
  setImmediate(() => {
    hasRun = true
  })
  const seen: boolean[] = []
  await collectBatches(limit => {
    seen.push(hasRun)
    return due.collect(limit)
  }, 50)
  t.same(seen, [false, true, true])
})

t.test('rejects with the error of a batch', async t => {
  await t.rejects(
    collectBatches(() => Promise.reject(new Error('down')), 10),
    { message: 'down' },
  )
})
