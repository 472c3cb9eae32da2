import { createIdempotency, type StoredAnswer } from '@gatewright/idempotency-store'
import { memoryStorage } from '@gatewright/idempotency-store/memory'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { answer, write } from './support.ts'

/** A process over a store whose begins are counted, with the write of `key` completed. */
async function setUp(options: { maxHeldBytes?: number } = {}) {
  const clock = manualClock()
  const sound = memoryStorage()
  const seen = { begins: 0 }
  const storage = {
    ...sound,
    begin: ((...args) => {
      seen.begins++
      return sound.begin(...args)
    }) as typeof sound.begin,
  }
  const idempotency = createIdempotency({ storage, clock, ...options })
  const complete = async (key: string, body?: string): Promise<void> => {
    const begun = await idempotency.begin(write({ key }))
    if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
    await idempotency.complete(begun.value.claim, answer(201, body))
  }
  await complete('key-one-1')
  return { clock, seen, storage, idempotency, complete }
}

t.test('asks the store for the first replay of an answer only, until it expires', async t => {
  const { clock, seen, idempotency } = await setUp()
  clock.advance(86_400_000 - 1)
  for (const _ of [1, 2, 3]) {
    const replayed = await idempotency.begin(write({ key: 'key-one-1' }))
    t.match(replayed, { ok: true, value: { state: 'replay', answer: answer(201) } })
    t.equal(seen.begins, 2)
  }
  clock.advance(1)
  t.match(await idempotency.begin(write({ key: 'key-one-1' })), { value: { state: 'started' } })
  t.equal(seen.begins, 3)
})

t.test('refuses the key of a held answer with another payload', async t => {
  const { seen, idempotency } = await setUp()
  await idempotency.begin(write({ key: 'key-one-1' }))
  const other = await idempotency.begin(write({ key: 'key-one-1', text: '{}' }))
  t.match(other, { code: 'idempotency_key_reused', status: 400 })
  t.equal(seen.begins, 2)
})

t.test('gives every replay an answer of its own', async t => {
  const { idempotency } = await setUp()
  const replay = async (): Promise<StoredAnswer> => {
    const begun = await idempotency.begin(write({ key: 'key-one-1' }))
    if (!begun.ok || begun.value.state !== 'replay') throw new Error('not replayed')
    return begun.value.answer
  }
  for (const _ of [1, 2, 3]) {
    const mine = await replay()
    t.same(mine, answer(201))
    ;(mine.headers as unknown[]).push(['set-cookie', 'mine'])
  }
})

t.test('forgets the oldest answers first when it holds too much, and then asks the store', async t => {
  const { seen, idempotency, complete } = await setUp({ maxHeldBytes: 4000 })
  const keys = Array.from({ length: 20 }, (_, index) => `key-many-${index}`)
  for (const key of keys) await complete(key)
  const asked = async (key: string): Promise<number> => {
    const before = seen.begins
    t.match(await idempotency.begin(write({ key })), { value: { state: 'replay' } })
    return seen.begins - before
  }
  for (const key of keys) t.equal(await asked(key), 1, `${key} is asked for`)
  for (const key of keys.slice(-3)) t.equal(await asked(key), 0, `${key} is held`)
  for (const key of keys.slice(0, 3)) t.equal(await asked(key), 1, `${key} is forgotten`)
})

t.test('holds no answer larger than half of all it may hold, and nothing at all at 0', async t => {
  for (const maxHeldBytes of [0, 500]) {
    const { seen, idempotency } = await setUp({ maxHeldBytes })
    for (const asked of [2, 3]) {
      t.match(await idempotency.begin(write({ key: 'key-one-1' })), { value: { state: 'replay' } })
      t.equal(seen.begins, asked)
    }
  }
})
