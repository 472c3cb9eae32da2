import t from 'tap'
import { compareReaders } from './compare-readers.ts'

t.test('reads requests under 20,000 random tables as a loop over the table does', async t => {
  const { used, denied } = compareReaders(20_000)
  t.ok(used > 10_000 && denied > 5000)
  t.comment(`measured: old names used ${used} times, denied ${denied} times`)
})
