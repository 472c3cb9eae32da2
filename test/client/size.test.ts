import { gzipSync } from 'node:zlib'
import t from 'tap'
import { bundle, runtimes } from '../workspace/runtimes/bundle.ts'

const WHOLE = `
  export * from '@gatewright/client'
  export * as user from '@gatewright/client/user'
  export * as partner from '@gatewright/client/partner'`

const gzipped = (text: string): number => gzipSync(text).length

t.test('the whole client is at most 12 KB after gzip, and imports nothing', async t => {
  for (const runtime of runtimes) {
    const { text, imports } = await bundle(runtime, WHOLE)
    t.same(imports, [])
    t.notMatch(text, /\b(?:Buffer|process|require)\b/, `${runtime} has no API of Node`)
    t.ok(gzipped(text) <= 12_000, `${gzipped(text)} bytes`)
  }
})

t.test('a program has only the operations that it names', async t => {
  const program = `
    import { createClient } from '@gatewright/client'
import * as user from '@gatewright/client/user'
    const client = createClient({ url: 'https://api.example', credential: { userKey: 'k' } })
    globalThis.balances = await client.call(user.balancesRead)`
  const { text } = await bundle('bun', program)
  t.match(text, '/user/v1/balances')
  t.notMatch(text, /\/partner\/v1\/(?!sessions)|\/user\/v1\/(?!balances|sessions)/)
  t.ok(gzipped(text) <= 4200, `${gzipped(text)} bytes`)
})
