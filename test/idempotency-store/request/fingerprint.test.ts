import { createIdempotency } from '@gatewright/idempotency-store'
import type { FingerprintMode } from '#packages/idempotency-store/dist/request/fingerprint.js'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { write } from '../support.ts'

/** Whether two bodies are the same payload. */
async function same(mode: FingerprintMode, one: string | Uint8Array, two: string | Uint8Array) {
  const idempotency = createIdempotency({ storage: memoryIdempotency(), fingerprint: mode, waitMs: 0 })
  await idempotency.begin(write({ body: Buffer.from(one) }))
  const second = await idempotency.begin(write({ body: Buffer.from(two) }))
  return !second.ok && second.code === 'request_in_progress'
}

t.test('computes the same effectId in every version, for each mode and with a target', async t => {
  // Recorded, because payment processors know earlier effects by these ids.
  for (const [fingerprint, target, effectId] of [
    ['raw', undefined, '7fbntoag3-2LWdbFwTCNldcpAzdjsMDPCwQsi53oW0Q'],
    ['raw', '/payins/1', 'hjlWd-XkSSFiNOSRgZ6tg1c_kNtRs6LYs76sSOgcJQc'],
    ['canonical-json', undefined, 'h-as0ws7SKQrgX2dIKQn5fipjaUTWxIaf_zikxJATyM'],
    ['canonical-json', '/payins/1', 'EtBMTs24N75W89m0h-VqgClortodWGtNH1tZYeSfAks'],
  ] as const) {
    const { begin } = createIdempotency({ storage: memoryIdempotency(), fingerprint })
    const claim = { effectId, storageKey: 'bEd6NhLzXH2aBmI5kBKnrgnAeVgTyV0dleVIi_SdwRI.account-1' }
    t.match(await begin(write({ target })), { value: { claim } }, `${fingerprint} ${target}`)
  }
})

t.test('compares bodies as JSON values by default', async t => {
  const idempotency = createIdempotency({ storage: memoryIdempotency(), waitMs: 0 })
  const [one, two] = ['{"a":1,"b":"x"}', '{ "b": "\\u0078", "a": 1.0 }'].map(text => write({ text }))
  await idempotency.begin(one!)
  t.match(await idempotency.begin(two!), { code: 'request_in_progress' })
  const effectIds = [one!, two!].map(async each => {
    const elsewhere = createIdempotency({ storage: memoryIdempotency() })
    return ((await elsewhere.begin(each)) as unknown as { value: { claim: { effectId: string } } }).value
      .claim.effectId
  })
  const [first, second] = await Promise.all(effectIds)
  t.equal(second, first, 'and they have one effectId where no record is left')
})

t.test('raw: compares bytes', async t => {
  t.equal(await same('raw', '{"a":1}', '{"a":1}'), true)
  t.equal(await same('raw', '{"a":1}', '{"a": 1}'), false)
  t.equal(await same('raw', '', ''), true)
})

t.test('distinguishes methods, and where the method ends and the body begins', async t => {
  const idempotency = createIdempotency({ storage: memoryIdempotency(), waitMs: 0 })
  await idempotency.begin(write({ method: 'PUT', body: Buffer.from('a b') }))
  for (const [method, body] of [
    ['PUT', 'a b'],
    ['POST', 'a b'],
    ['PUT a', 'b'],
  ] as const) {
    const again = await idempotency.begin(write({ method, body: Buffer.from(body) }))
    const code = method === 'PUT' ? 'request_in_progress' : 'idempotency_key_reused'
    t.match(again, { ok: false, code }, `${method} ${body}`)
  }
})

t.test('distinguishes targets, and where the target ends and the body begins', async t => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '1', '7') })
  const part = fc.record({ method: fc.constantFrom('PUT', 'PUT 1'), target: text, body: text })
  await fc.assert(
    fc.asyncProperty(part, part, async (one, other) => {
      const idempotency = createIdempotency({ storage: memoryIdempotency(), waitMs: 0 })
      await idempotency.begin(write({ ...one, body: Buffer.from(one.body) }))
      const again = await idempotency.begin(write({ ...other, body: Buffer.from(other.body) }))
      const isEqual = one.method === other.method && one.target === other.target && one.body === other.body
      t.match(again, { code: isEqual ? 'request_in_progress' : 'idempotency_key_reused' })
    }),
  )
  const idempotency = createIdempotency({ storage: memoryIdempotency(), waitMs: 0 })
  await idempotency.begin(write())
  t.match(await idempotency.begin(write({ target: '' })), { code: 'request_in_progress' }, 'absent is empty')
})

t.test('refuses a body that is not bytes, in both modes', async t => {
  for (const fingerprint of ['raw', 'canonical-json'] as const) {
    const { begin } = createIdempotency({ storage: memoryIdempotency(), fingerprint })
    for (const body of [
      '{"to":"alice"}',
      [{ to: 'alice' }],
      { to: 'alice' },
      undefined,
      new ArrayBuffer(8),
    ]) {
      const typeError = { name: 'TypeError', message: /body must be the bytes as received/ }
      await t.rejects(begin(write({ body: body as never })), typeError)
    }
  }
})

t.test(
  'canonical-json: treats bodies as equal that differ in member order, white space, escapes and number form',
  async t => {
    const joined: [string, string][] = [
      ['{"a":1,"b":[true,null]}', ' { "b" : [ true , null ] , "a" : 1 }\n'],
      ['{"a":"\\u0041"}', '{"a":"A"}'],
      ['{"a":1.50}', '{"a":1.5}'],
      ['{"a":0.123456789012345}', '{"a": 0.123456789012345}'],
      ['{"a":1e2}', '{"a":1e+2}'],
      ['{"€":1,"$":2}', '{"$":2,"€":1}'],
      ['{"a":{"a":1},"b":{"a":1}}', '{"b":{"a":1},"a":{"a":1}}'],
      ['{"__proto__":1,"a":2}', '{"a":2,"__proto__":1}'],
    ]
    for (const [one, two] of joined) t.equal(await same('canonical-json', one, two), true, `${one} ${two}`)
  },
)

t.test('canonical-json: distinguishes different values', async t => {
  const apart: [string, string][] = [
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":1}', '{"a":1.0000001}'],
    ['[1,2]', '[2,1]'],
    ['{"a":null}', '{}'],
    ['{"a":"\\u00e9"}', '{"a":"e\\u0301"}'],
    ['{"a":1}', '{"a":1}{'],
  ]
  for (const [one, two] of apart) t.equal(await same('canonical-json', one, two), false, `${one} ${two}`)
})

t.test('canonical-json: compares byte by byte what JSON parsers may read differently', async t => {
  const ambiguous: [string | Uint8Array, string | Uint8Array][] = [
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"a":1,"\\u0061":2}', '{"a":2}'],
    ['{"b":{"a":1,"a":1}}', '{"b":{"a":1}}'],
    ['{"a":9007199254740993}', '{"a":9007199254740992}'],
    ['{"a":0.10000000000000001}', '{"a":0.1}'],
    ['{"a":0.1234567890123456}', '{"a": 0.1234567890123456}'],
    ['{"a":1e-400}', '{"a":0}'],
    ['{"a":1e400}', '{"a":2e400}'],
    ['{"a":"\\ud800"}', '{"a": "\\ud800"}'],
    ['\ufeff{"a":1}', '{"a":1}'],
    [Buffer.from([0x22, 0xff, 0x22]), Buffer.from([0x22, 0xfe, 0x22])],
    ['['.repeat(100_000) + ']'.repeat(100_000), `${'['.repeat(100_000) + ']'.repeat(100_000)} `],
    ['amount=1', 'amount=1&'],
  ]
  for (const [one, two] of ambiguous) {
    t.equal(await same('canonical-json', one, two), false, String(one).slice(0, 40))
    t.equal(await same('canonical-json', one, one), true)
  }
})

t.test('canonical-json: any value equals another spelling of it, and differs from other values', async t => {
  const plain = fc.json({ maxDepth: 3 })
  await fc.assert(
    fc.asyncProperty(plain, plain, async (one, two) => {
      // Indenting changes bytes only; reversing members changes order only.
      const reversed = JSON.stringify(reverse(JSON.parse(one)), null, 2)
      const ambiguous = !(await same('canonical-json', one, ` ${one}`))
      if (!ambiguous && !(await same('canonical-json', one, reversed))) return false
      const equal = JSON.stringify(sort(JSON.parse(one))) === JSON.stringify(sort(JSON.parse(two)))
      return equal || !(await same('canonical-json', one, two))
    }),
    { numRuns: randomCases(300) },
  )
  t.pass('300 values')
})

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
function rebuild(value: Json, order: (names: string[]) => string[]): Json {
  if (Array.isArray(value)) return value.map(item => rebuild(item, order))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    order(Object.keys(value)).map(name => [name, rebuild(value[name] as Json, order)]),
  )
}
const reverse = (value: Json): Json => rebuild(value, names => names.toReversed())
const sort = (value: Json): Json => rebuild(value, names => names.toSorted())
