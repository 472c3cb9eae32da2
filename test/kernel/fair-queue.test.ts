import { createFairQueue, QUEUE_FULL, runQueued, isClassFull } from '@gatewright/kernel/internal'
import type { FairQueueOptions } from '#packages/kernel/dist/fair-queue.js'
import fc from 'fast-check'
import t from 'tap'

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** A queue whose jobs end when the test says so. */
function heldQueue(bounds: Partial<FairQueueOptions>) {
  const queue = createFairQueue({ atOnce: 1, waiting: 64, waitingPerClass: 8, turnMs: Infinity, ...bounds })
  const ends: (() => void)[] = []
  const started: string[] = []
  const run = async (jobClass: string | undefined, name = String(jobClass)): Promise<string> => {
    const result = await runQueued(
      queue,
      jobClass,
      job => {
        started.push(job)
        return new Promise<string>(resolve => ends.push(() => resolve(job)))
      },
      name,
    )
    return result === QUEUE_FULL ? 'full' : result
  }
  /** Ends all jobs, and those that start because of it. */
  const release = async (): Promise<void> => {
    while (ends.length > 0) {
      ends.shift()?.()
      await turn()
    }
  }
  return { queue, run, release, started, ends }
}

t.test('returns QUEUE_FULL only to the class that has too many waiting jobs', async t => {
  const { queue, run, release } = heldQueue({ waiting: 8, waitingPerClass: 4 })
  const flood = Array.from({ length: 10 }, () => run('flood'))
  t.equal(isClassFull(queue, 'flood'), true)
  t.equal(isClassFull(queue, 'bystander'), false)
  const bystander = run('bystander')
  await release()
  t.same(await Promise.all(flood), [...Array(5).fill('flood'), ...Array(5).fill('full')])
  t.equal(await bystander, 'bystander')
})

t.test(
  'evicts the newest job of the largest class when full, and throws a fault only when no class is larger',
  async t => {
    const { run, release } = heldQueue({ waiting: 4, waitingPerClass: 4 })
    const running = run('running')
    const many = [run('many'), run('many'), run('many'), run('many')]
    const few = [run('b'), run('c'), run('d')]
    t.equal(await many[3], 'full', 'its newest job goes first')
    t.equal(await many[1], 'full')
    await t.rejects(run('e'), { name: 'Fault', code: 'ERR_OVERLOADED' })
    t.equal(await run('many'), 'full')
    await release()
    t.same(await Promise.all([running, many[0], ...few]), ['running', 'many', 'b', 'c', 'd'])
  },
)

t.test('serves classes in turn, so that one job does not wait behind many of another class', async t => {
  const { run, release, started } = heldQueue({ waiting: 16 })
  const all = [...Array.from({ length: 8 }, () => run('flood')), run('one')]
  await release()
  await Promise.all(all)
  t.same(started.slice(0, 3), ['flood', 'flood', 'one'])
})

t.test('treats all jobs without a class as one class that only the total limits', async t => {
  const { run, release } = heldQueue({ waiting: 6, waitingPerClass: 2 })
  const all = Array.from({ length: 9 }, () => run(undefined))
  await release()
  t.equal((await Promise.all(all)).filter(ran => ran === 'full').length, 2)
})

t.test('does not limit waiting jobs when the limits are Infinity', async t => {
  const { run, release } = heldQueue({ waiting: Infinity, waitingPerClass: Infinity, atOnce: 8 })
  const all = Array.from({ length: 500 }, () => run('a'))
  await release()
  t.same(new Set(await Promise.all(all)), new Set(['a']))
})

t.test('runs a job immediately and without a promise when nothing waits', async t => {
  const { queue } = heldQueue({})
  t.equal(
    runQueued(queue, 'a', n => n + 1, 1),
    2,
  )
})

t.test('gives the event loop a turn after each job with turnMs 0', async t => {
  const queue = createFairQueue({ atOnce: 4, waiting: 64, waitingPerClass: 64, turnMs: 0 })
  let turns = 0
  let done = false
  const count = (): void => {
    turns++
    if (!done) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(Array.from({ length: 20 }, async () => runQueued(queue, 'a', () => 1, undefined)))
  done = true
  t.ok(turns >= 19, `${turns} turns for 20 jobs`)
})

t.test('continues after a job that throws or rejects', async t => {
  const { queue } = heldQueue({})
  const fail = (): never => {
    throw new Error('worker lost')
  }
  t.throws(() => runQueued(queue, 'a', fail, undefined), /worker lost/)
  const later = [async () => fail(), fail, () => 1].map(async job => runQueued(queue, 'a', job, undefined))
  t.match(await Promise.allSettled(later), [
    { status: 'rejected' },
    { status: 'rejected' },
    { status: 'fulfilled', value: 1 },
  ])
})

t.test(
  'keeps its limits for any arrivals, and evicts no job of a class that has fewer waiting jobs than another',
  async () => {
    const arrivals = fc.array(fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.constant('end')), { maxLength: 60 })
    const bounds = fc.record({
      atOnce: fc.integer({ min: 1, max: 3 }),
      waiting: fc.integer({ min: 1, max: 8 }),
      waitingPerClass: fc.integer({ min: 1, max: 8 }),
    })
    await fc.assert(
      fc.asyncProperty(bounds, arrivals, async (given, steps) => {
        const { queue, run, release, ends } = heldQueue(given)
        const all: Promise<unknown>[] = []
        for (const step of steps) {
          if (step === 'end') {
            ends.shift()?.()
            await turn()
          } else {
            const before = new Map([...queue.queues].map(([name, jobs]) => [name, jobs.length]))
            const busy = queue.active >= given.atOnce
            const ran = run(step)
            all.push(ran.catch((error: unknown) => error))
            const own = before.get(step) ?? 0
            const largest = Math.max(0, ...before.values())
            const hasRoom =
              [...before.values()].reduce((sum, n) => sum + n, 0) < given.waiting || largest > own + 1
            const waits = (queue.queues.get(step)?.length ?? 0) === own + 1
            if (busy && waits !== (hasRoom && own < given.waitingPerClass)) return false
          }
          if (queue.active > given.atOnce || queue.queued > given.waiting) return false
          if ([...queue.queues.values()].some(jobs => jobs.length > given.waitingPerClass)) return false
        }
        await release()
        await Promise.all(all)
        return queue.active === 0 && queue.queued === 0 && queue.queues.size === 0
      }),
    )
  },
)
