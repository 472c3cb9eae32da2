import type { EpochMs } from '@gatewright/kernel'
import { failingTests } from '@gatewright/kernel/testing'
import type { NonceStorage } from '@gatewright/signature-verifier'
import { memoryStorage } from '@gatewright/signature-verifier/memory'
import { nonceStorageContract, nonceStorageFaults } from '@gatewright/signature-verifier/testing'
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
