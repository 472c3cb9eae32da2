import { LruCache } from '@gatewright/kernel/internal'
import fc from 'fast-check'
import t from 'tap'

t.test('keeps what was used last, by a plain model, and disposes of each removed value once', t => {
  const key = fc.integer({ min: 0, max: 5 })
  const step = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), key, size: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ kind: fc.constantFrom('get' as const, 'peek' as const, 'delete' as const), key }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const disposed: number[] = []
      const cache = new LruCache<number, number>({ maxSize: 8, dispose: value => void disposed.push(value) })
      // The entries in the order of their use.
      let model: { key: number; value: number; size: number }[] = []
      const expected: number[] = []
      const remove = (key: number): void => {
        for (const each of model) if (each.key === key) expected.push(each.value)
        model = model.filter(each => each.key !== key)
      }
      for (const [value, given] of steps.entries()) {
        const known = model.find(each => each.key === given.key)
        if (given.kind === 'set') {
          cache.set(given.key, value, given.size)
          remove(given.key)
          model.push({ key: given.key, value, size: given.size })
          while (model.reduce((sum, { size }) => sum + size, 0) > 8) remove((model[0] as { key: number }).key)
        } else if (given.kind === 'delete') {
          cache.delete(given.key)
          remove(given.key)
        } else {
          t.equal(cache[given.kind](given.key), known?.value)
          if (known && given.kind === 'get') model = [...model.filter(each => each !== known), known]
        }
        t.same(
          [...cache.oldestKeys()],
          model.map(each => each.key),
        )
        t.equal(
          cache.size,
          model.reduce((sum, { size }) => sum + size, 0),
        )
        t.same(disposed, expected)
      }
    }),
    { numRuns: 30 },
  )
  t.end()
})

t.test('keeps nothing that is larger than all it may keep, and forgets the value before', t => {
  const disposed: string[] = []
  const cache = new LruCache<string, string>({ maxSize: 2, dispose: value => void disposed.push(value) })
  cache.set('a', 'one', 1)
  cache.set('a', 'two', 3)
  t.equal(cache.get('a'), undefined)
  t.same(disposed, ['one', 'two'])
  t.end()
})

t.test('passes over keys that are deleted while they are listed', t => {
  const cache = new LruCache<number, number>({ maxSize: 4 })
  for (const key of [1, 2, 3, 4]) cache.set(key, key, 1)
  const seen: number[] = []
  for (const key of cache.oldestKeys()) {
    seen.push(key)
    cache.delete(key)
    cache.delete(key + 1)
  }
  t.same(seen, [1, 3])
  t.equal(cache.size, 0)
  t.end()
})
