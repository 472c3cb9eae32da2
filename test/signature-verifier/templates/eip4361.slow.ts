import t from 'tap'
import { compareWithViem } from './eip4361-differences.ts'

t.setTimeout(1_800_000)

t.test('100 000 altered messages are parsed as viem parses them, or differ in a known way', async t => {
  const { kinds, both } = compareWithViem(100_000)
  t.ok(both > 10_000)
  t.comment(`measured: both parsers took ${both} of 100 000 messages`)
  for (const [kind, count] of kinds) t.comment(`measured: ${count} x viem takes ${kind}`)
})
