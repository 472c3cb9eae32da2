import {
  classify,
  createIdempotency,
  recordHeaders,
  type StoredResponse,
} from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { response, write } from '../support.ts'
import { isStoredResponse } from '#packages/idempotency-store/dist/response/stored-response.js'

type Options = Partial<Parameters<typeof createIdempotency>[0]>

/** Completes a write with a response, and repeats the request. */
async function twice(given: StoredResponse, options: Options = {}) {
  const idempotency = createIdempotency({ storage: memoryIdempotency(), waitMs: 0, ...options })
  const begun = await idempotency.begin(write())
  if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
  const completion = await idempotency.complete(begun.value.claim, given)
  return { completion, again: await idempotency.begin(write()) }
}

t.test('stores 2xx, 3xx and definitive 4xx responses', async t => {
  for (const status of [200, 201, 202, 204, 303, 404, 409, 410, 412]) {
    const { completion, again } = await twice(response(status))
    t.match(completion, { state: 'stored' }, `${status}`)
    t.match(again, { ok: true, value: { state: 'replay', response: response(status) } })
  }
})

t.test('frees the key on denials by validation, authorisation and rate limits', async t => {
  for (const status of [400, 401, 403, 405, 408, 413, 415, 422, 428, 429, 431]) {
    const { completion, again } = await twice(response(status))
    t.same(completion, { state: 'released' }, `${status}`)
    t.match(again, { ok: true, value: { state: 'started' } })
  }
})

t.test('classifies exactly the statuses that are decided before any effect as denials', async t => {
  const denied = []
  for (let status = 100; status < 600; status++) if (classify(status) === 'denied') denied.push(status)
  t.same(
    denied,
    [
      [400, 401, 402, 403, 405, 406, 407, 408, 411, 413, 414, 415, 416, 417, 421, 422, 425, 426, 428, 429],
      [431, 511],
    ].flat(),
  )
})

t.test('accepts valid responses with valid spends, and no other values', async t => {
  const valid = { status: 200, headers: [['a', 'b']], body: '' }
  const spend = { amountCents: 0, currency: 'USD' }
  for (const value of [
    valid,
    { ...valid, headers: [] },
    { ...valid, spends: [] },
    { ...valid, spends: [spend, { ...spend, countsAs: ['cards.create'] }] },
  ])
    t.equal(isStoredResponse(value), true, JSON.stringify(value))
  for (const value of [
    undefined,
    null,
    'text',
    { ...valid, status: 200.5 },
    { ...valid, body: null },
    { ...valid, headers: 'none' },
    { ...valid, headers: ['ab'] },
    { ...valid, headers: [['a']] },
    { ...valid, headers: [[1, 'b']] },
    { ...valid, headers: [['a', 1]] },
    { ...valid, headers: [['a', 'b', 'c']] },
    { ...valid, headers: [['a', 'b'], ['a']] },
    { ...valid, spends: spend },
    { ...valid, spends: [spend, undefined] },
    { ...valid, spends: [spend, { ...spend, amountCents: -1 }] },
    { ...valid, spends: [{ ...spend, amountCents: 0.5 }] },
    { ...valid, spends: [{ ...spend, currency: 1 }] },
    { ...valid, spends: [{ ...spend, countsAs: 'cards.create' }] },
    { ...valid, spends: [{ ...spend, countsAs: ['cards.create', 1] }] },
  ])
    t.equal(isStoredResponse(value), false, JSON.stringify(value))
})

t.test('a retry with the payment starts the write that got 402', async t => {
  const { completion, again } = await twice(response(402))
  t.same(completion, { state: 'released' })
  t.match(again, { ok: true, value: { state: 'started' } })
})

t.test(
  'stores no 5xx response, and reports the outcome as unknown immediately: the effect may have happened',
  async t => {
    for (const status of [500, 502, 503, 504]) {
      const { completion, again } = await twice(response(status))
      t.same(completion, { state: 'unknown' }, `${status}`)
      t.match(again, { code: 'outcome_unknown' })
    }
  },
)

t.test('classifies every number, also invalid statuses', async t => {
  for (const status of [NaN, 0, -1, 100, 199, 600]) t.equal(classify(status), 'unknown', `${status}`)
  for (let status = 200; status < 400; status++) t.equal(classify(status), 'final')
})

t.test('stores only the listed header fields, in any letter case, and never a cookie', async t => {
  const given: StoredResponse = {
    status: 201,
    headers: [
      ['Content-Type', 'application/json'],
      ['Set-Cookie', 'session=secret'],
      ['set-cookie', 'session=secret'],
      ['LOCATION', '/payins/1'],
      ['X-Request-Id', 'first'],
    ],
    body: '{}',
  }
  const { again } = await twice(given)
  t.same(again.ok && again.value.state === 'replay' && again.value.response.headers, [
    ['Content-Type', 'application/json'],
    ['LOCATION', '/payins/1'],
  ])
  const options = { storage: memoryIdempotency(), storedHeaders: ['ETag', 'Set-Cookie'] }
  t.throws(() => createIdempotency(options), { name: 'TypeError', message: /storedHeaders.*set-cookie/ })
})

t.test('stores a body of up to maxResponseBytes, and leaves out a larger one', async t => {
  const options = { maxResponseBytes: 4 }
  const kept = await twice(response(201, 'éé'), options)
  t.match(kept.again, { value: { response: { status: 201, body: 'éé' } } })
  const omitted = await twice(response(201, 'éé.'), options)
  t.match(omitted.again, {
    value: { state: 'replay', response: { status: 201, body: '', bodyOmitted: true } },
  })
})

t.test('replays any text byte for byte', async t => {
  for (const body of ['', '\u0000', '\ud800', '\u2028', '{"__proto__":1}']) {
    const { again } = await twice(response(200, body))
    t.match(again, { value: { response: { body } } })
  }
})

t.test('replays any header fields and body unchanged, and stores no text that a store refuses', async t => {
  const hostile = fc.constantFrom(
    '',
    '\n',
    '\r\n',
    '\u0000',
    '\ud800',
    '\udfff',
    '{',
    '"',
    'é',
    'name',
    '201',
  )
  const text = fc.array(fc.oneof(hostile, fc.string()), { maxLength: 4 }).map(parts => parts.join(''))
  const fields = fc.array(fc.tuple(text, text), { maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(fields, text, async (headers, body) => {
      const storage = memoryIdempotency()
      const stored: string[] = []
      const end: typeof storage.end = (key, fence, ending, now) => {
        if (ending.state === 'done') stored.push(ending.response)
        return storage.end(key, fence, ending, now)
      }
      const storedHeaders = headers.map(([name]) => name)
      const given = { status: 201, headers, body }
      const { again } = await twice(given, { storage: { ...storage, end }, storedHeaders })
      t.strictSame(again.ok && again.value.state === 'replay' && again.value.response, given)
      return stored.length === 1 && stored.every(one => one.isWellFormed() && !one.includes('\0'))
    }),
    { numRuns: randomCases(300) },
  )
})

t.test('throws a fault for a stored text that is not a response', async t => {
  const texts = ['', '{', 'null', '[]', '{"status":"200","headers":[],"body":""}', '{"status":200,"body":""}']
  const lines = [
    '200 0',
    '200 0\n',
    '200 0\nname\n',
    '200 0\nname\nvalue\n',
    '\n\n',
    'two 0\n\n',
    '0x1 0\n\n',
  ]
  const cut = ['200 3\n\nok', '200 1\n\nok', '200 \n\n', '200\n\n', ' 200 0\n\n', '2e2 0\n\n']
  for (const text of [...texts, ...lines, ...cut, '{"status":200,"headers":[["a"]],"body":""}']) {
    const storage = {
      ...memoryIdempotency(),
      begin: async () => ({ state: 'done', response: text, expiresAt: 1 }),
    }
    const { begin } = createIdempotency({ storage: storage as never })
    await t.rejects(begin(write()), { name: 'Fault', code: 'ERR_STORE_REPLY' }, text)
  }
})

t.test('makes the header fields of a replay and of a stored response', async t => {
  t.same(recordHeaders({ replayed: true, expiresAt: 0 }), [
    ['Idempotency-Replayed', 'true'],
    ['Idempotency-Expires', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ])
  t.same(recordHeaders({ replayed: false, expiresAt: null }), [])
})
