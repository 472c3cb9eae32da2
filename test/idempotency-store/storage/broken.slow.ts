import { failingTests } from '@gatewright/kernel/testing'
import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { idempotencyStorageContract, idempotencyStorageFaults } from '@gatewright/idempotency-store/testing'
import t from 'tap'

const failures = (make: (correct: IdempotencyStorage) => Partial<IdempotencyStorage>): Promise<string[]> =>
  failingTests(runner =>
    idempotencyStorageContract(runner, 'broken', async () => {
      const correct = memoryIdempotency()
      return { connections: [{ ...correct, ...make(correct) }], close: async () => {} }
    }),
  )
const yieldOnce = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('a correct adapter passes, so that a failure below is meaningful', async t => {
  t.same(await failures(() => ({})), [])
})

t.test('catches an adapter that reads and then writes', async t => {
  const failed = await failures(correct => {
    const started = new Map<string, number>()
    return {
      async begin(key, fingerprint, leaseUntil, now) {
        const seen = started.get(key)
        await yieldOnce()
        if (seen === undefined) {
          started.set(key, now)
          await correct.begin(key, fingerprint, leaseUntil, now)
          return { state: 'started', fence: now }
        }
        return correct.begin(key, fingerprint, leaseUntil, now)
      },
    }
  })
  t.ok(failed.includes('starts one of 50 simultaneous begins, and reports it as running to the others'))
  t.ok(failed.includes('starts one of 50 simultaneous begins with different fingerprints'))
})

t.test('catches an adapter that starts a lost key again', async t => {
  const failed = await failures(correct => ({
    async begin(key, ...rest) {
      const begun = await correct.begin(key, ...rest)
      if (begun.state !== 'lost') return begun
      await correct.end(key, begun.fence, { state: 'free', expiresAt: rest[1] }, rest[2])
      return correct.begin(key, ...rest)
    },
  }))
  t.same(failed, [
    'reports a run that was ended as lost before its lease is over',
    'starts none of 50 simultaneous begins of a lost key',
    'reports a run as running until 1 ms before its lease ends, and as lost exactly at its end',
    'keeps a lost run lost, however much time passes',
    'accepts the ending of an owner after its lease if no other caller has decided',
    'extends the lease of a running run until 1 ms before its end, and not at its end',
    'takes over a run exactly at the end of its lease, with a larger fence, and not before',
    'collects at most the given number of expired records, and no running, lost or unexpired one',
  ])
})

t.test('catches an adapter that does not check the fence', async t => {
  const failed = await failures(correct => {
    const last = new Map<string, number>()
    return {
      async begin(key, ...rest) {
        const begun = await correct.begin(key, ...rest)
        if (begun.state === 'started') last.set(key, begun.fence)
        return begun
      },
      end: (key, fence, ...rest) => correct.end(key, last.get(key) ?? fence, ...rest),
    }
  })
  t.same(failed.slice(0, 2), [
    'refuses every ending by an owner whose key was started again, and keeps the new run',
    'refuses every ending and extension by an owner whose lost run was taken over',
  ])
})

t.test('catches an adapter whose fence does not grow', async t => {
  const failed = await failures(correct => ({
    async begin(...args) {
      const begun = await correct.begin(...args)
      return begun.state === 'started' ? { ...begun, fence: 1 } : begun
    },
    end: async (key, fence, ...rest) => correct.end(key, fence, ...rest),
  }))
  t.ok(failed.includes('starts a freed key again immediately, for any fingerprint, with a larger fence'))
})

t.test('catches an adapter that ignores the fingerprint', async t => {
  const failed = await failures(correct => ({
    begin: (key, _fingerprint, ...rest) => correct.begin(key, '', ...rest),
  }))
  t.same(failed, [
    'reports another fingerprint as reuse while the key is running, lost and done',
    'starts one of 50 simultaneous begins with different fingerprints',
    'keeps the fingerprint, the label and the begin of an extended run',
    'finds the label, the begin and the state of a record, and nothing under a new key',
    'lists runs from the end of their lease on, and no running, done or free ones',
    'distinguishes the longest keys and fingerprints by their last letter',
  ])
})

t.test('catches an adapter that loses the fingerprint when it stores the response', async t => {
  const failed = await failures(correct => {
    const done = new Map<string, string>()
    const first = new Map<string, string>()
    return {
      async begin(key, fingerprint, ...rest) {
        if (done.has(key)) return correct.begin(key, first.get(key) ?? fingerprint, ...rest)
        const begun = await correct.begin(key, fingerprint, ...rest)
        if (begun.state === 'started') first.set(key, fingerprint)
        return begun
      },
      async end(key, fence, ending, now) {
        const won = await correct.end(key, fence, ending, now)
        if (won && ending.state === 'done') done.set(key, ending.response)
        return won
      },
    }
  })
  t.ok(failed.includes('reports another fingerprint as reuse while the key is running, lost and done'))
})

t.test('catches an adapter that keeps the last response', async t => {
  const failed = await failures(correct => {
    const responses = new Map<string, string>()
    return {
      async begin(key, ...rest) {
        const begun = await correct.begin(key, ...rest)
        return begun.state === 'done' ? { ...begun, response: responses.get(key) ?? '' } : begun
      },
      async end(key, fence, ending, now) {
        const won = await correct.end(key, fence, ending, now)
        if (ending.state === 'done') responses.set(key, ending.response)
        return won || ending.state === 'done'
      },
    }
  })
  t.ok(failed.includes('accepts a repeated ending, refuses a different one, and keeps the first response'))
})

t.test('catches an adapter that is off by one at its deadlines', async t => {
  const failed = await failures(correct => ({
    begin: (key, fingerprint, leaseUntil, now) => correct.begin(key, fingerprint, leaseUntil, now - 1),
  }))
  t.ok(
    failed.includes(
      'reports a run as running until 1 ms before its lease ends, and as lost exactly at its end',
    ),
  )
  t.ok(failed.includes('replays until 1 ms before the retention ends, and starts again exactly at its end'))
})

t.test('catches an adapter that collects nothing', async t => {
  t.same(await failures(() => ({ collect: async () => 0 })), [
    'collects at most the given number of expired records, and no running, lost or unexpired one',
  ])
})

t.test('catches an adapter that collects lost runs', async t => {
  const failed = await failures(correct => {
    let replaced = correct
    return {
      begin: (...args) => replaced.begin(...args),
      end: (...args) => replaced.end(...args),
      extend: (...args) => replaced.extend(...args),
      takeOver: (...args) => replaced.takeOver(...args),
      find: key => replaced.find(key),
      listLost: page => replaced.listLost(page),
      async collect() {
        replaced = memoryIdempotency()
        return 0
      },
    }
  })
  t.ok(failed.includes('keeps a lost run lost, however much time passes'))
  t.ok(failed.includes('deletes nothing that a host with a clock 60 s behind still needs'))
})

t.test('catches an adapter that ignores the case of keys', async t => {
  const failed = await failures(correct => ({
    begin: (key, ...rest) => correct.begin(key.toLowerCase(), ...rest),
    end: (key, ...rest) => correct.end(key.toLowerCase(), ...rest),
  }))
  t.same(failed, [
    'lists runs in the order of their begins, those of one instant by key, in pages',
    'distinguishes keys that differ in the case of a letter',
  ])
})

t.test('catches an adapter that returns instead of throwing when its store fails', async t => {
  const begins = [{ state: 'started', fence: 1 }, { state: 'running' }] as const
  for (const begun of begins) {
    const healthy = memoryIdempotency()
    const swallowing = {
      ...healthy,
      begin: async () => begun,
      end: async () => true,
      extend: async () => true,
      takeOver: async () => undefined,
      find: async () => undefined,
      listLost: async () => [],
    }
    const faulty = { healthy, cutBefore: swallowing, cutAfter: swallowing, malformed: swallowing }
    const failed = await failingTests(runner =>
      idempotencyStorageFaults(runner, 'broken', async () => ({ ...faulty, close: async () => {} })),
    )
    t.equal(failed.length, 8)
  }
})

t.test('catches an adapter that truncates long keys or fingerprints', async t => {
  const title = 'distinguishes the longest keys and fingerprints by their last letter'
  const cut = (text: string): string => text.slice(0, 42)
  const failed = [
    await failures(correct => ({ begin: (key, ...rest) => correct.begin(cut(key), ...rest) })),
    await failures(correct => ({ begin: (key, print, ...rest) => correct.begin(key, cut(print), ...rest) })),
  ]
  for (const titles of failed) t.ok(titles.includes(title))
})

t.test('catches an adapter that extends a lease that has ended, or one of another run', async t => {
  t.same(
    await failures(correct => ({ extend: (key, fence, until) => correct.extend(key, fence, until, 0) })),
    ['extends the lease of a running run until 1 ms before its end, and not at its end'],
  )
  const failed = await failures(correct => {
    const last = new Map<string, number>()
    return {
      async begin(key, ...rest) {
        const begun = await correct.begin(key, ...rest)
        if (begun.state === 'started') last.set(key, begun.fence)
        return begun
      },
      extend: (key, fence, ...rest) => correct.extend(key, last.get(key) ?? fence, ...rest),
    }
  })
  t.same(failed, ['extends no lease of another run, of one that has ended, or of one that was ended as lost'])
})

t.test('catches an adapter that says yes to every extension, or that shortens a lease', async t => {
  const always = await failures(correct => ({
    async extend(...args) {
      await correct.extend(...args)
      return true
    },
  }))
  t.ok(
    always.includes(
      'extends no lease of another run, of one that has ended, or of one that was ended as lost',
    ),
  )
  t.ok(always.includes('refuses every ending and extension by an owner whose lost run was taken over'))
  const never = await failures(() => ({ extend: async () => false }))
  t.ok(never.includes('accepts a repeated extension, and never shortens a lease'))
})

t.test('catches an adapter that takes over a run which is not lost', async t => {
  const failed = await failures(correct => ({
    takeOver: (key, fence, until) => correct.takeOver(key, fence, until, Number.MAX_SAFE_INTEGER - 1),
  }))
  t.ok(
    failed.includes('takes over a run exactly at the end of its lease, with a larger fence, and not before'),
  )
})

t.test('catches an adapter that lets two callers take one run over', async t => {
  const failed = await failures(correct => ({
    async takeOver(key, fence, until, now) {
      const record = await correct.find(key)
      await yieldOnce()
      if (record?.state !== 'running' || record.fence !== fence || now < record.until) return undefined
      await correct.takeOver(key, fence, until, now)
      return Math.max(fence + 1, now)
    },
  }))
  t.ok(failed.includes('gives the run to one of 50 simultaneous take-overs'))
})

t.test('catches an adapter whose take-over keeps the fence, so that a late owner still decides', async t => {
  const failed = await failures(correct => {
    const real = new Map<number, number>()
    return {
      async takeOver(key, fence, ...rest) {
        const taken = await correct.takeOver(key, fence, ...rest)
        if (taken !== undefined) real.set(fence, taken)
        return taken
      },
      end: (key, fence, ...rest) => correct.end(key, real.get(fence) ?? fence, ...rest),
    }
  })
  t.ok(failed.includes('refuses every ending and extension by an owner whose lost run was taken over'))
})

t.test('catches an adapter that forgets decisions or labels', async t => {
  const forgets = await failures(correct => ({
    async find(key) {
      const record = await correct.find(key)
      return record && { ...record, decision: record.state === 'running' ? null : record.decision }
    },
  }))
  t.same(forgets, ['keeps the decision with an ending, and through later runs of the key'])
  const unlabelled = await failures(correct => ({
    begin: (...args) => correct.begin(args[0], args[1], args[2], args[3]),
  }))
  t.ok(
    unlabelled.includes('finds the label, the begin and the state of a record, and nothing under a new key'),
  )
  t.ok(unlabelled.includes('lists the runs of one account, or of all'))
})

t.test('catches an adapter that lists running runs, in another order, or repeats one', async t => {
  const early = await failures(correct => ({
    listLost: ({ now, ...page }) => correct.listLost({ now: now + 60_000, ...page }),
  }))
  t.ok(early.includes('lists runs from the end of their lease on, and no running, done or free ones'))
  const pages = 'lists runs in the order of their begins, those of one instant by key, in pages'
  const unordered = await failures(correct => ({
    listLost: async page => (await correct.listLost(page)).toReversed(),
  }))
  t.ok(unordered.includes(pages))
  const repeating = await failures(correct => ({
    listLost: ({ after: _after, ...page }) => correct.listLost(page),
  }))
  t.ok(repeating.includes(pages))
})

t.test('catches an adapter that decides by its own clock, in any function that reads the time', async t => {
  const ownClock = (correct: IdempotencyStorage): IdempotencyStorage => ({
    ...correct,
    begin: (key, fingerprint, leaseUntil, _now, label) =>
      correct.begin(key, fingerprint, leaseUntil, Date.now(), label),
    extend: (key, fence, leaseUntil) => correct.extend(key, fence, leaseUntil, Date.now()),
    collect: limit => correct.collect(limit, Date.now()),
    takeOver: (key, fence, leaseUntil) => correct.takeOver(key, fence, leaseUntil, Date.now()),
    listLost: page => correct.listLost({ ...page, now: Date.now() }),
  })
  for (const name of ['begin', 'extend', 'collect', 'takeOver', 'listLost'] as const) {
    const failed = await failures(correct => ({ [name]: ownClock(correct)[name] }))
    t.not(failed.length, 0, name)
  }
})
