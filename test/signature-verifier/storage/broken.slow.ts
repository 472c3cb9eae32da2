import { GRACE_MS, type EpochMs } from '@gatewright/kernel'
import { failingTests } from '@gatewright/kernel/testing'
import type { ChallengeStorage, NonceStorage } from '@gatewright/signature-verifier'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import {
  challengeStorageContract,
  challengeStorageFaults,
  nonceStorageContract,
  nonceStorageFaults,
} from '@gatewright/signature-verifier/testing'
import t from 'tap'

type Claim = NonceStorage['claim']

/** A storage that waits between its steps, as over a network, and whose `claim` each test replaces. */
function storage(make: (held: Map<string, EpochMs>) => Claim): NonceStorage {
  const held = new Map<string, EpochMs>()
  return {
    claim: make(held),
    async collect(limit, now) {
      const expired = [...held].filter(([, expiresAt]) => expiresAt <= now - GRACE_MS).slice(0, limit)
      for (const [key] of expired) held.delete(key)
      return expired.length
    },
  }
}
const yieldOnce = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
const failures = (broken: NonceStorage): Promise<string[]> =>
  failingTests(runner =>
    nonceStorageContract(runner, 'broken', async () => ({ connections: [broken], close: async () => {} })),
  )

t.test('passes a correct adapter, so that the failures below mean something', async t => {
  t.same(await failures(memoryNonces()), [])
})

t.test('catches an adapter that reads and then writes', async t => {
  const broken = storage(held => async (key, expiresAt, now) => {
    const until = held.get(key)
    await yieldOnce()
    if (until !== undefined && now < until) return false
    held.set(key, expiresAt)
    return true
  })
  t.same(await failures(broken), [
    'lets one of 50 simultaneous claims win',
    'lets one of 50 simultaneous claims of an expired key win',
  ])
})

t.test('catches an adapter that collects nothing', async t => {
  t.same(await failures({ ...memoryNonces(), collect: async () => 0 }), [
    'collects at most `limit` expired keys and no live key',
  ])
})

t.test('catches an adapter that ignores expiry', async t => {
  const broken = storage(held => async (key, expiresAt) => {
    if (held.has(key)) return false
    held.set(key, expiresAt)
    return true
  })
  t.same(await failures(broken), [
    'lets one of 50 simultaneous claims of an expired key win',
    'rejects a key until 1 ms before its expiry and accepts it again at the expiry',
  ])
})

t.test('catches an adapter that is off by 1 ms at the expiry', async t => {
  const broken = storage(held => async (key, expiresAt, now) => {
    const until = held.get(key)
    if (until !== undefined && now <= until) return false
    held.set(key, expiresAt)
    return true
  })
  t.same(await failures(broken), [
    'lets one of 50 simultaneous claims of an expired key win',
    'rejects a key until 1 ms before its expiry and accepts it again at the expiry',
  ])
})

t.test('catches an adapter that moves the expiry when it rejects', async t => {
  const broken = storage(held => async (key, expiresAt, now) => {
    const until = held.get(key)
    held.set(key, expiresAt)
    return until === undefined || now >= until
  })
  t.ok((await failures(broken)).includes('keeps the expiry of a live key when another claim is rejected'))
})

t.test('catches an adapter that evicts live keys when it is full', async t => {
  const broken = storage(held => async (key, expiresAt, now) => {
    const until = held.get(key)
    if (until !== undefined && now < until) return false
    if (held.size >= 10) held.delete(held.keys().next().value as string)
    held.set(key, expiresAt)
    return true
  })
  t.same(await failures(broken), [
    'keeps keys apart that differ in case, spaces, control characters or length',
  ])
})

t.test('catches an adapter that treats different keys as one', async t => {
  const sound = memoryNonces()
  const broken = {
    ...sound,
    claim: ((key, ...times) => sound.claim(key.normalize('NFC'), ...times)) as Claim,
  }
  t.same(await failures(broken), [
    'keeps keys apart that differ in case, spaces, control characters or length',
  ])
})

t.test(
  'catches an adapter that resolves instead of throwing when its connection breaks or its reply is malformed',
  async t => {
    for (const response of [true, false]) {
      const healthy = memoryNonces()
      const claim: Claim = async () => response
      const swallowing = { ...healthy, claim }
      const hurt = { healthy, cutBefore: swallowing, cutAfter: swallowing, malformed: swallowing }
      const failed = await failingTests(runner =>
        nonceStorageFaults(runner, 'broken', async () => ({ ...hurt, close: async () => {} })),
      )
      t.equal(failed.length, 3)
    }
  },
)

/** A correct storage whose challenges go through `wrap`. */
function challenging(wrap: (sound: ChallengeStorage) => Partial<ChallengeStorage>): ChallengeStorage {
  const sound = memoryNonces()
  return { ...sound, ...wrap(sound) }
}
const challengeFailures = (broken: ChallengeStorage): Promise<string[]> =>
  failingTests(runner =>
    challengeStorageContract(runner, 'broken', async () => ({
      connections: [broken],
      close: async () => {},
    })),
  )

t.test('passes correct challenges, so that the failures below mean something', async t => {
  t.same(await challengeFailures(memoryNonces()), [])
})

t.test('catches challenges that are read and then deleted', async t => {
  const live = new Map<string, EpochMs>()
  const broken = challenging(() => ({
    issue: async (key, expiresAt) => {
      if (live.has(key)) return false
      live.set(key, expiresAt)
      return true
    },
    consume: async (key, now) => {
      const until = live.get(key)
      await yieldOnce()
      live.delete(key)
      return until !== undefined && now < until
    },
    async collect(_limit, now) {
      for (const [key, expiresAt] of live) if (expiresAt <= now - GRACE_MS) live.delete(key)
      return 0
    },
  }))
  t.same(await challengeFailures(broken), ['lets one of 50 simultaneous consumers win'])
})

t.test('catches challenges that can be used twice, after their expiry, or without being issued', async t => {
  const reusable = new Map<string, EpochMs>()
  const twice = challenging(sound => ({
    issue: async (key, ...times) => {
      reusable.set(key, times[0])
      return sound.issue(key, ...times)
    },
    consume: async (key, now) => now < (reusable.get(key) ?? 0),
  }))
  t.ok((await challengeFailures(twice)).includes('lets an issued challenge be consumed once'))
  const endless = challenging(sound => ({ consume: key => sound.consume(key, 0) }))
  t.same(await challengeFailures(endless), [
    'accepts a challenge until 1 ms before its expiry and rejects it at the expiry',
    'keeps the expiry when a second issue of the key is rejected',
  ])
  const anything = challenging(sound => ({
    consume: (key, now) => sound.claim(`used ${key}`, now + 1, now),
  }))
  t.ok((await challengeFailures(anything)).includes('rejects a challenge that was never issued'))
})

t.test(
  'catches challenges that share keys with nonces, and challenges that are collected too early',
  async t => {
    const shared = challenging(sound => ({ issue: sound.claim }))
    t.ok((await challengeFailures(shared)).includes('keeps challenges and nonces apart'))
    const early = challenging(sound => ({ collect: (limit, now) => sound.collect(limit, now + 600_000) }))
    t.same(await challengeFailures(early), [
      'collects expired challenges, but none that is live or that a host 60 s behind still needs',
    ])
  },
)

t.test('catches challenges that resolve instead of throwing when the connection breaks', async t => {
  for (const response of [true, false]) {
    const healthy = memoryNonces()
    const swallowing = { ...healthy, consume: async () => response, issue: async () => response }
    const hurt = { healthy, cutBefore: swallowing, cutAfter: swallowing, malformed: swallowing }
    const failed = await failingTests(runner =>
      challengeStorageFaults(runner, 'broken', async () => ({ ...hurt, close: async () => {} })),
    )
    t.equal(failed.length, 4)
  }
})

t.test('catches an adapter that decides by its own clock, in any of its functions', async t => {
  const correct = memoryNonces()
  const claiming: NonceStorage = {
    ...correct,
    claim: (key, expiresAt) => correct.claim(key, expiresAt, Date.now()),
  }
  const collecting: NonceStorage = { ...correct, collect: limit => correct.collect(limit, Date.now()) }
  for (const broken of [claiming, collecting]) t.not((await failures(broken)).length, 0)
})
