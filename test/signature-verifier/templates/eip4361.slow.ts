import t from 'tap'
import { compareWithViem } from './eip4361-differences.ts'

t.setTimeout(900_000)

t.test('300 000 altered messages are parsed as viem parses them, or differ in a known way', async t => {
  const { kinds, both } = compareWithViem(300_000)
  t.ok(both > 30_000)
  t.comment(`measured: both parsers took ${both} of 300 000 messages`)
  for (const [kind, count] of kinds) t.comment(`measured: ${count} x viem takes ${kind}`)
})
