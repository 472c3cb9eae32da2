import { createIdempotency, type StoredResponse } from '@gatewright/idempotency-store'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { countedStorage, response, write } from '../support.ts'
import { createReplayCache } from '#packages/idempotency-store/dist/response/replay-cache.js'

/** A process over a store whose begins are counted, with one completed write. */
async function setUp(options: { maxCachedBytes?: number } = {}) {
  const clock = manualClock()
  const { storage, seen } = countedStorage()
  const idempotency = createIdempotency({ storage, clock, ...options })
  const complete = async (key: string, body?: string): Promise<void> => {
    const begun = await idempotency.begin(write({ key }))
    if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
    await idempotency.complete(begun.value.claim, response(201, body))
  }
  await complete('key-one-1')
  return { clock, seen, storage, idempotency, complete }
}

t.test('asks the store only for the first replay of a response, until it expires', async t => {
  const { clock, seen, idempotency } = await setUp()
  clock.advance(86_400_000 - 1)
  for (const _ of [1, 2, 3]) {
    const replayed = await idempotency.begin(write({ key: 'key-one-1' }))
    t.match(replayed, { ok: true, value: { state: 'replay', response: response(201) } })
    t.equal(seen.begins, 2)
  }
  clock.advance(1)
  t.match(await idempotency.begin(write({ key: 'key-one-1' })), { value: { state: 'started' } })
  t.equal(seen.begins, 3)
})

t.test('denies the key of a cached response with another payload', async t => {
  const { seen, idempotency } = await setUp()
  await idempotency.begin(write({ key: 'key-one-1' }))
  const other = await idempotency.begin(write({ key: 'key-one-1', text: '{}' }))
  t.match(other, { code: 'idempotency_key_reused', status: 400 })
  t.equal(seen.begins, 2)
})

t.test('gives every caller a response object of its own', async t => {
  const { idempotency } = await setUp()
  const replay = async (): Promise<StoredResponse> => {
    const begun = await idempotency.begin(write({ key: 'key-one-1' }))
    if (!begun.ok || begun.value.state !== 'replay') throw new Error('not replayed')
    return begun.value.response
  }
  for (const _ of [1, 2, 3]) {
    const mine = await replay()
    t.same(mine, response(201))
    ;(mine.headers as unknown[]).push(['set-cookie', 'mine'])
  }
})

t.test('evicts the oldest responses first, and then asks the store', async t => {
  const { seen, idempotency, complete } = await setUp({ maxCachedBytes: 4000 })
  const keys = Array.from({ length: 20 }, (_, index) => `key-many-${index}`)
  for (const key of keys) await complete(key)
  const storeCalls = async (key: string): Promise<number> => {
    const before = seen.begins
    t.match(await idempotency.begin(write({ key })), { value: { state: 'replay' } })
    return seen.begins - before
  }
  for (const key of keys) t.equal(await storeCalls(key), 1, `${key} is read from the store`)
  for (const key of keys.slice(-3)) t.equal(await storeCalls(key), 0, `${key} is cached`)
  for (const key of keys.slice(0, 3)) t.equal(await storeCalls(key), 1, `${key} is evicted`)
})

t.test('caches no response larger than half the cache, and none with size 0', async t => {
  for (const maxCachedBytes of [0, 500]) {
    const { seen, idempotency } = await setUp({ maxCachedBytes })
    for (const begins of [2, 3]) {
      t.match(await idempotency.begin(write({ key: 'key-one-1' })), { value: { state: 'replay' } })
      t.equal(seen.begins, begins)
    }
  }
})

t.test('keeps two generations of half the size, and responses of up to half the size', async t => {
  const cache = createReplayCache(4000)
  // An entry counts its key, its text and 200 bytes.
  const add = (key: string, size: number): void =>
    cache.add(key, { fingerprint: 'f', text: 'x'.repeat(size - key.length - 200), expiresAt: 1 })
  const found = (): string[] => ['1', '2', '3', '4', '5', '6', '7'].filter(key => cache.find(key, 0))
  for (const key of ['1', '2', '3', '4']) add(key, 1000)
  t.same(found(), ['1', '2', '3', '4'])
  add('5', 1000)
  t.same(found(), ['3', '4', '5'])
  add('6', 2000)
  t.same(found(), ['5', '6'])
  add('7', 2001)
  t.same(found(), ['5', '6'], 'a larger one is not cached')
})
