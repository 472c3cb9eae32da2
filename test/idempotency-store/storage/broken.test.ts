import { failingTests } from '@gatewright/kernel/testing'
import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import { memoryStorage } from '@gatewright/idempotency-store/memory'
import { idempotencyStorageContract, idempotencyStorageFaults } from '@gatewright/idempotency-store/testing'
import t from 'tap'

const failures = (make: (sound: IdempotencyStorage) => Partial<IdempotencyStorage>): Promise<string[]> =>
  failingTests(runner =>
    idempotencyStorageContract(runner, 'broken', async () => {
      const sound = memoryStorage()
      return { connections: [{ ...sound, ...make(sound) }], close: async () => {} }
    }),
  )
const yieldOnce = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('passes a sound adapter, so that a failure below means something', async t => {
  t.same(await failures(() => ({})), [])
})

t.test('catches an adapter that reads and then writes', async t => {
  const failed = await failures(sound => {
    const started = new Map<string, number>()
    return {
      async begin(key, fingerprint, leaseUntil, now) {
        const seen = started.get(key)
        await yieldOnce()
        if (seen === undefined) {
          started.set(key, now)
          await sound.begin(key, fingerprint, leaseUntil, now)
          return { state: 'started', fence: now }
        }
        return sound.begin(key, fingerprint, leaseUntil, now)
      },
    }
  })
  t.ok(failed.includes('lets one of 50 simultaneous begins start, and the others see it running'))
  t.ok(failed.includes('lets one of 50 simultaneous begins with different payloads start'))
})

t.test('catches an adapter that runs a lost write again by itself', async t => {
  const failed = await failures(sound => ({
    async begin(key, ...rest) {
      const begun = await sound.begin(key, ...rest)
      if (begun.state !== 'lost') return begun
      await sound.end(key, begun.fence, { state: 'free', expiresAt: rest[1] }, rest[2])
      return sound.begin(key, ...rest)
    },
  }))
  t.same(failed, [
    'shows a run that was ended as lost, before its lease is over',
    'starts none of 50 simultaneous begins of a lost key',
    'shows a run as running until 1 ms before its lease ends, and as lost exactly at it',
    'keeps a lost run lost, however much time passes',
    'accepts the owner after its lease while nobody else has decided',
    'collects at most the given number of ended records, and no running or live one',
  ])
})

t.test('catches an adapter that does not check the fence', async t => {
  const failed = await failures(sound => {
    const last = new Map<string, number>()
    return {
      async begin(key, ...rest) {
        const begun = await sound.begin(key, ...rest)
        if (begun.state === 'started') last.set(key, begun.fence)
        return begun
      },
      end: (key, fence, ...rest) => sound.end(key, last.get(key) ?? fence, ...rest),
    }
  })
  t.same(failed, ['refuses every ending by an owner that was replaced, and leaves the new run alone'])
})

t.test('catches an adapter whose fence stands still', async t => {
  const failed = await failures(sound => ({
    async begin(...args) {
      const begun = await sound.begin(...args)
      return begun.state === 'started' ? { ...begun, fence: 1 } : begun
    },
    end: async (key, fence, ...rest) => sound.end(key, fence, ...rest),
  }))
  t.ok(failed.includes('frees a released key at once, for any fingerprint, with a larger fence'))
})

t.test('catches an adapter that forgets the fingerprint', async t => {
  const failed = await failures(sound => ({
    begin: (key, _fingerprint, ...rest) => sound.begin(key, '', ...rest),
  }))
  t.same(failed, [
    'names reuse by another fingerprint, while running, when lost and when done',
    'lets one of 50 simultaneous begins with different payloads start',
    'tells the longest keys and fingerprints apart by their last letter',
  ])
})

t.test('catches an adapter that drops the fingerprint when it stores the answer', async t => {
  const failed = await failures(sound => {
    const done = new Map<string, string>()
    const first = new Map<string, string>()
    return {
      async begin(key, fingerprint, ...rest) {
        if (done.has(key)) return sound.begin(key, first.get(key) ?? fingerprint, ...rest)
        const begun = await sound.begin(key, fingerprint, ...rest)
        if (begun.state === 'started') first.set(key, fingerprint)
        return begun
      },
      async end(key, fence, ending, now) {
        const won = await sound.end(key, fence, ending, now)
        if (won && ending.state === 'done') done.set(key, ending.answer)
        return won
      },
    }
  })
  t.ok(failed.includes('names reuse by another fingerprint, while running, when lost and when done'))
})

t.test('catches an adapter that lets the last answer win', async t => {
  const failed = await failures(sound => {
    const answers = new Map<string, string>()
    return {
      async begin(key, ...rest) {
        const begun = await sound.begin(key, ...rest)
        return begun.state === 'done' ? { ...begun, answer: answers.get(key) ?? '' } : begun
      },
      async end(key, fence, ending, now) {
        const won = await sound.end(key, fence, ending, now)
        if (ending.state === 'done') answers.set(key, ending.answer)
        return won || ending.state === 'done'
      },
    }
  })
  t.ok(failed.includes('lets an ending be repeated, refuses another one, and keeps the first answer'))
})

t.test('catches an adapter that is off by one at its deadlines', async t => {
  const failed = await failures(sound => ({
    begin: (key, fingerprint, leaseUntil, now) => sound.begin(key, fingerprint, leaseUntil, now - 1),
  }))
  t.ok(failed.includes('shows a run as running until 1 ms before its lease ends, and as lost exactly at it'))
  t.ok(failed.includes('replays until 1 ms before the retention ends, and starts anew exactly at it'))
})

t.test('catches an adapter that collects lost runs', async t => {
  const failed = await failures(sound => {
    let replaced = sound
    return {
      begin: (...args) => replaced.begin(...args),
      end: (...args) => replaced.end(...args),
      async collect() {
        replaced = memoryStorage()
        return 0
      },
    }
  })
  t.ok(failed.includes('keeps a lost run lost, however much time passes'))
  t.ok(failed.includes('deletes nothing that a host 60 s behind still needs'))
})

t.test('catches an adapter that folds keys', async t => {
  const failed = await failures(sound => ({
    begin: (key, ...rest) => sound.begin(key.toLowerCase(), ...rest),
    end: (key, ...rest) => sound.end(key.toLowerCase(), ...rest),
  }))
  t.same(failed, ['keeps keys apart that differ in the case of a letter'])
})

t.test('catches an adapter that answers instead of throwing when its store is hurt', async t => {
  const begins = [{ state: 'started', fence: 1 }, { state: 'running' }] as const
  for (const begun of begins) {
    const healthy = memoryStorage()
    const swallowing = { ...healthy, begin: async () => begun, end: async () => true }
    const hurt = { healthy, cutBefore: swallowing, cutAfter: swallowing, malformed: swallowing }
    const failed = await failingTests(runner =>
      idempotencyStorageFaults(runner, 'broken', async () => ({ ...hurt, close: async () => {} })),
    )
    t.equal(failed.length, 5)
  }
})

t.test('catches an adapter that cuts long keys or fingerprints', async t => {
  const title = 'tells the longest keys and fingerprints apart by their last letter'
  const cut = (text: string): string => text.slice(0, 42)
  const failed = [
    await failures(sound => ({ begin: (key, ...rest) => sound.begin(cut(key), ...rest) })),
    await failures(sound => ({ begin: (key, print, ...rest) => sound.begin(key, cut(print), ...rest) })),
  ]
  for (const titles of failed) t.ok(titles.includes(title))
})
