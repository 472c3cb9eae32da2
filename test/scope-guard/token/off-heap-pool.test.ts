import t from 'tap'

type Pool = typeof import('../../../packages/scope-guard/dist/token/off-heap-pool.js')
const { createOffHeapPool, SLOT_BYTES } = (await import(
  `${process.cwd()}/packages/scope-guard/dist/token/off-heap-pool.js`
)) as Pool

t.test('uses the place of an erased text again, also of one that fills its slot', async t => {
  const pool = createOffHeapPool()
  for (const length of [1, SLOT_BYTES]) {
    const { bytes, start } = pool.store('a'.repeat(length))
    t.ok(bytes.length > SLOT_BYTES, 'shares a block with other texts')
    t.equal(bytes[start + length - 1], 'a'.charCodeAt(0))
    pool.erase({ bytes, start }, length)
    t.ok(bytes.subarray(start, start + length).every(byte => byte === 0))
    const next = pool.store('b')
    t.ok(next.bytes === bytes && next.start === start, `${length} bytes`)
    pool.erase(next, 1)
  }
})

t.test(
  'gives a text that is longer than a slot a buffer of its own, which it does not use again',
  async t => {
    const pool = createOffHeapPool()
    const text = 'a'.repeat(SLOT_BYTES + 1)
    const place = pool.store(text)
    t.same([place.bytes.length, place.start], [text.length, 0])
    pool.erase(place, text.length)
    t.not(pool.store('b').bytes, place.bytes)
  },
)
