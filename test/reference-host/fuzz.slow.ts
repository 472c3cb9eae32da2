import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { startChild } from '../harness/child.ts'
import { bearer, bootstrapUser, request, type HttpResponse, type RequestOptions } from '../harness/host.ts'
import { inlined } from '../harness/openapi.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-fuzz-'))
Object.assign(process.env, { DATA_DIR: dataDir, PORT: '0', RATE_LIMITS: 'off' })
const child = startChild(new URL('./fuzz.child.js', import.meta.url), [], ['--expose-gc'])
t.teardown(async () => {
  child.send('stop')
  await once(child, 'exit')
  rmSync(dataDir, { recursive: true, force: true })
})
const [{ url, partnerKey }] = (await once(child, 'message')) as [{ url: string; partnerKey: string }]
async function heap(): Promise<{ heapBytes: number; unexpected: string[] }> {
  child.send('heap')
  const [measured] = (await once(child, 'message')) as [{ heapBytes: number; unexpected: string[] }]
  return measured
}

interface OperationDescription {
  readonly requestBody?: {
    content: { 'application/json': { schema: { properties?: Record<string, object> } } }
  }
}
const { body: published } = await request(url, '/openapi.json')
const description = inlined(published, published)
const operations = Object.entries(
  description['paths'] as Record<string, Record<string, OperationDescription>>,
)
  .filter(([path]) => path !== '/metrics')
  .flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => ({
      path,
      method: method.toUpperCase(),
      fields: Object.keys(described.requestBody?.content['application/json'].schema.properties ?? {}),
    })),
  )
const user = await bootstrapUser((path, options) => request(url, path, options))

/** Values close to valid ones, and values far from them. */
const value = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(0, 1, -1, 100, 1e21, 0.5, '', '0x', 'USD', 'balance', null, true, [], {}),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  { weight: 1, arbitrary: fc.array(fc.string(), { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('users.read', 'a'.repeat(300), '2026-01-01T00:00:00Z', '\u0000', '__proto__'),
  },
)
const credential = fc.constantFrom<Record<string, string>>(
  {},
  ...Array.from({ length: 6 }, () => bearer(user.token)),
  bearer('a.b.c'),
  { 'x-user-key': user.key },
  { 'x-user-key': `${user.key}0` },
  { 'x-partner-key': partnerKey },
  { 'x-consumer-key': '\u00ff'.repeat(50) },
)
const schemaAware = fc.constantFrom(...operations).chain(({ path, method, fields }) =>
  fc.record({
    path: fc
      .string({ unit: 'binary-ascii', minLength: 1, maxLength: 12 })
      .map(id => path.replaceAll(/\{\w+\}/g, encodeURIComponent(id))),
    method: fc.constant(method),
    headers: credential,
    key: fc.constantFrom('', '1234567', '12345678', '"12345678"', '"', 'x'.repeat(256)),
    body: fc.oneof(
      fc
        .dictionary(fc.constantFrom(...fields, '__proto__', 'other'), value, { maxKeys: 8 })
        .map(o => JSON.stringify(o)),
      fc.constantFrom('', '{', 'null', '[]', '{"a":1,"a":2}', '['.repeat(5000), '{"policy":'.repeat(2000)),
    ),
  }),
)

async function sent({
  path,
  method,
  headers,
  key,
  body,
}: Record<string, never> & Sent): Promise<HttpResponse> {
  const withBody = method === 'GET' ? {} : { body }
  const options: RequestOptions = { method, headers: { ...headers, 'idempotency-key': key }, ...withBody }
  return request(url, path, options)
}
interface Sent {
  readonly path: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly key: string
  readonly body: string
}

const GOOD = Buffer.from(
  'POST /user/v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
)

/** Words that only internal errors contain. */
const INTERNAL =
  /node:internal|\.ts:\d|\.js:\d|sqlite|gw_(?:nonces|users|cards|payins|partners|keys|sessions|feed)\b|at \w+ \(|TypeError|undefined is not/i

t.test('10,000 fuzzed requests cause no 500, no hang, no internal text and no leftover memory', async t => {
  const samples = fc.sample(schemaAware, { numRuns: 9000, seed: 20_261_121 })
  let early = 0
  const statuses = new Map<number, number>()
  for (let at = 0; at < samples.length; at += 20) {
    if (at === 2000) early = (await heap()).heapBytes
    const responses = await Promise.all(samples.slice(at, at + 20).map(sample => sent(sample as never)))
    for (const { status, body } of responses) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const text = JSON.stringify(body)
      if (INTERNAL.test(text) && !text.includes('userApiKey')) t.fail(`internal text: ${text.slice(0, 300)}`)
    }
  }
  const changes = fc.array(fc.tuple(fc.nat(GOOD.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
  const damaged = fc.sample(changes, { numRuns: 1000, seed: 20_261_121 })
  for (let at = 0; at < damaged.length; at += 10) {
    await Promise.all(damaged.slice(at, at + 10).map(changed => rawBytes(changed)))
  }
  const { heapBytes, unexpected } = await heap()
  t.same(unexpected.slice(0, 3), [])
  t.notOk([...statuses.keys()].some(status => status >= 500))
  const grownMiB = (heapBytes - early) / 2 ** 20
  t.ok(grownMiB <= 5, `the heap grew by ${grownMiB.toFixed(2)} MiB`)
  t.comment(`measured: heap after GC grew by ${grownMiB.toFixed(2)} MiB from request 2,000 to 10,000`)
  t.comment(`measured: responses by status ${JSON.stringify(Object.fromEntries(statuses))}`)
})

/** Sends a request with some bytes changed over a raw socket, and waits at most 5 s for its end. */
async function rawBytes(changed: readonly (readonly [at: number, byte: number])[]): Promise<void> {
  const bytes = Buffer.from(GOOD)
  for (const [at, byte] of changed) bytes[at] = byte
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.on('data', chunk => {
    if (chunk.toString('latin1').startsWith('HTTP/1.1 5'))
      t.fail(`5xx for ${JSON.stringify(bytes.toString('latin1'))}`)
    socket.end()
  })
  socket.setTimeout(300, () => socket.destroy())
  socket.write(bytes)
  await once(socket, 'close')
}
