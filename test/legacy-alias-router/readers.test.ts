import t from 'tap'
import { compareReaders } from './compare-readers.ts'

t.test('reads random requests under random tables as a loop over the table does', async t => {
  const { used, denied } = compareReaders(300)
  t.ok(used > 100 && denied > 50, `old names were used ${used} times and denied ${denied} times`)
})
