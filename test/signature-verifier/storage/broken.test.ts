import type { EpochMs } from '@gatewright/kernel'
import { failingTests } from '@gatewright/kernel/testing'
import type { ChallengeStorage, NonceStorage } from '@gatewright/signature-verifier'
import { memoryStorage } from '@gatewright/signature-verifier/memory'
import {
  challengeStorageContract,
  challengeStorageFaults,
  nonceStorageContract,
  nonceStorageFaults,
} from '@gatewright/signature-verifier/testing'
import t from 'tap'

type Claim = NonceStorage['claim']

/** A storage that yields between its steps, as a network would, with `claim` as its only part that may be wrong. */
function storage(make: (held: Map<string, EpochMs>) => Claim): NonceStorage {
  return { claim: make(new Map()), collect: async () => 0 }
}
const yieldOnce = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
const failures = (broken: NonceStorage): Promise<string[]> =>
  failingTests(runner =>
    nonceStorageContract(runner, 'broken', async () => ({ connections: [broken], close: async () => {} })),
  )

t.test('passes a sound adapter, so that a failure below means something', async t => {
  t.same(await failures(memoryStorage()), [])
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
    'lets one of 50 simultaneous takeovers of an ended key win',
  ])
})

t.test('catches an adapter that ignores expiry', async t => {
  const broken = storage(held => async (key, expiresAt) => {
    if (held.has(key)) return false
    held.set(key, expiresAt)
    return true
  })
  t.same(await failures(broken), [
    'lets one of 50 simultaneous takeovers of an ended key win',
    'holds a key until 1 ms before its expiry and frees it exactly at it',
  ])
})

t.test('catches an adapter that is off by one at the expiry', async t => {
  const broken = storage(held => async (key, expiresAt, now) => {
    const until = held.get(key)
    if (until !== undefined && now <= until) return false
    held.set(key, expiresAt)
    return true
  })
  t.same(await failures(broken), [
    'lets one of 50 simultaneous takeovers of an ended key win',
    'holds a key until 1 ms before its expiry and frees it exactly at it',
  ])
})

t.test('catches an adapter that moves the expiry when it refuses', async t => {
  const broken = storage(held => async (key, expiresAt, now) => {
    const until = held.get(key)
    held.set(key, expiresAt)
    return until === undefined || now >= until
  })
  t.ok((await failures(broken)).includes('does not shorten a live key when a claim of it is refused'))
})

t.test('catches an adapter that evicts live keys when it is full', async t => {
  const broken = storage(held => async (key, expiresAt, now) => {
    const until = held.get(key)
    if (until !== undefined && now < until) return false
    if (held.size >= 10) held.delete(held.keys().next().value as string)
    held.set(key, expiresAt)
    return true
  })
  t.same(await failures(broken), ['keeps hostile keys apart'])
})

t.test('catches an adapter that folds keys', async t => {
  const sound = memoryStorage()
  const broken = {
    ...sound,
    claim: ((key, ...times) => sound.claim(key.normalize('NFC'), ...times)) as Claim,
  }
  t.same(await failures(broken), ['keeps hostile keys apart'])
})

t.test(
  'catches an adapter that answers instead of throwing when its store is cut or talks nonsense',
  async t => {
    for (const answer of [true, false]) {
      const healthy = memoryStorage()
      const claim: Claim = async () => answer
      const swallowing = { ...healthy, claim }
      const hurt = { healthy, cutBefore: swallowing, cutAfter: swallowing, malformed: swallowing }
      const failed = await failingTests(runner =>
        nonceStorageFaults(runner, 'broken', async () => ({ ...hurt, close: async () => {} })),
      )
      t.equal(failed.length, 3)
    }
  },
)

/** A storage whose challenges go through `wrap`, over a sound one. */
function challenging(wrap: (sound: ChallengeStorage) => Partial<ChallengeStorage>): ChallengeStorage {
  const sound = memoryStorage()
  return { ...sound, ...wrap(sound) }
}
const challengeFailures = (broken: ChallengeStorage): Promise<string[]> =>
  failingTests(runner =>
    challengeStorageContract(runner, 'broken', async () => ({
      connections: [broken],
      close: async () => {},
    })),
  )

t.test('passes sound challenges, so that a failure below means something', async t => {
  t.same(await challengeFailures(memoryStorage()), [])
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
  }))
  t.same(await challengeFailures(broken), ['lets one of 50 simultaneous consumers win'])
})

t.test(
  'catches challenges that can be used twice, or past their end, or without having been issued',
  async t => {
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
      'holds a challenge until 1 ms before its expiry and refuses it exactly at it',
      'does not move the expiry when issuing again is refused',
    ])
    const anything = challenging(sound => ({
      consume: (key, now) => sound.claim(`used ${key}`, now + 1, now),
    }))
    t.ok((await challengeFailures(anything)).includes('refuses a challenge that was never issued'))
  },
)

t.test('catches challenges and nonces in one place, and challenges that are collected too early', async t => {
  const shared = challenging(sound => ({ issue: sound.claim }))
  t.ok((await challengeFailures(shared)).includes('keeps challenges and nonces apart'))
  const early = challenging(sound => ({ collect: (limit, now) => sound.collect(limit, now + 600_000) }))
  t.same(await challengeFailures(early), [
    'collects nothing that a host 60 s behind still needs, and no live challenge',
  ])
})

t.test('catches challenges that answer instead of throwing when their store is hurt', async t => {
  for (const answer of [true, false]) {
    const healthy = memoryStorage()
    const swallowing = { ...healthy, consume: async () => answer, issue: async () => answer }
    const hurt = { healthy, cutBefore: swallowing, cutAfter: swallowing, malformed: swallowing }
    const failed = await failingTests(runner =>
      challengeStorageFaults(runner, 'broken', async () => ({ ...hurt, close: async () => {} })),
    )
    t.equal(failed.length, 4)
  }
})
