import { readFileSync } from 'node:fs'
import t from 'tap'
import { allCodes, faultCodes } from './errors.ts'

t.test('the code lists of all packages are seen, each code with one status', async t => {
  const codes = await allCodes()
  t.match(codes.get('idempotency_key_reused'), { status: 400, packages: ['idempotency-store'] })
  t.match(codes.get('service_unavailable'), { status: 503, packages: ['http'] })
  t.ok((codes.get('invalid_request')?.packages.length ?? 0) > 3)
})

t.test('fault codes come with their docstrings', async t => {
  const source = "export type FaultCode =\n  /** One. */\n  | 'ERR_A'\n  /** Two. */\n  | 'ERR_B'\n\nclass X"
  t.same(faultCodes(source), [
    ['ERR_A', 'One.'],
    ['ERR_B', 'Two.'],
  ])
  t.ok(faultCodes(readFileSync('packages/kernel/src/fault.ts', 'utf8')).length > 5)
})
