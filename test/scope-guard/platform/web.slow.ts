import t from 'tap'
import { passOnTheWebPlatform } from '../../harness/web-platform.ts'

t.test('keeps every rule on tokens, keys and proofs where Web Crypto verifies', async t => {
  const files = [
    'platform/signature',
    'token/verify',
    'token/keys',
    'token/cache',
    'dpop/proof',
    'guard',
    'rate-limits/failure-limit',
  ]
  await passOnTheWebPlatform(
    t,
    files.map(file => `scope-guard/${file}`),
  )
})
