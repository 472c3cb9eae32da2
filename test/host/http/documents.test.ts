import { manualClock } from '@gatewright/kernel/testing'
import { createClient } from 'redis'
import t, { type Test } from 'tap'
import { openTestHost, type TestHost } from '../../harness/host.ts'
import { startRedis } from '../../harness/services.ts'

const DOCUMENTS = ['/.well-known/jwks.json', '/openapi.json', '/readyz', '/metrics']
const HIGH_LIMITS = { RATE_LIMITS: '{"documentsPerAddressPerMinute":100000}' }

async function hostFor(
  t: Test,
  env: Record<string, string>,
  clock = manualClock(Date.now()),
): Promise<TestHost> {
  const host = await openTestHost(t, env, clock)
  return host
}

const get = (
  { url }: TestHost,
  path: string,
  address = '192.0.2.1',
  headers: Record<string, string> = {},
): Promise<Response> => fetch(url + path, { headers: { 'x-forwarded-for': address, ...headers } })

t.test('renders metrics once for 200 requests within a second, and again in the next', async t => {
  const clock = manualClock(Date.now())
  const host = await hostFor(t, HIGH_LIMITS, clock)
  const rendered = new Set<string>()
  for (let round = 0; round < 4; round++) {
    const replies = await Promise.all(Array.from({ length: 50 }, () => get(host, '/metrics')))
    for (const response of replies) rendered.add(await response.text())
    if (round === 2) clock.advance(999)
  }
  t.equal(rendered.size, 1, 'each request is counted, so a second rendering would differ')
  clock.advance(1)
  const next = await (await get(host, '/metrics')).text()
  t.match(next, 'gatewright_requests_total{operation="system.metrics",status="200",code=""} 200')
  clock.advance(-5000)
  t.not(await (await get(host, '/metrics')).text(), next, 'a clock that was set back invalidates the result')
})

t.test(
  'checks each store once at most for 100 simultaneous readiness checks, and reports when it goes down',
  async t => {
    const redis = await startRedis([])
    t.teardown(() => redis.stop())
    const clock = manualClock(Date.now())
    const host = await hostFor(t, { ...HIGH_LIMITS, REDIS_URL: redis.url }, clock)
    const client = await createClient({ url: redis.url }).connect()
    client.on('error', () => {})
    t.teardown(() => client.destroy())
    /** How often Redis was asked for its memory policy, including this question. */
    const asked = async (): Promise<number> =>
      Number(/cmdstat_info:calls=(\d+)/.exec(await client.info('commandstats'))?.[1])
    const ready = async (): Promise<number[]> =>
      (await Promise.all(Array.from({ length: 100 }, () => get(host, '/readyz')))).map(({ status }) => status)

    await client.info('commandstats')
    const before = await asked()
    t.same(new Set(await ready()), new Set([200]))
    // A check ends before it asks when its time is up.
    t.ok((await asked()) - before <= 2, 'once for all of them, and once by this test')
    clock.advance(1000)
    t.same(new Set(await ready()), new Set([200]))
    t.ok((await asked()) - before <= 4)

    client.destroy()
    await redis.stop()
    clock.advance(1000)
    t.same(new Set(await ready()), new Set([200]))
    const down = await get(host, '/readyz')
    t.match(await down.json(), { status: 'ready', dependencies: { database: 'ok', redis: 'down' } })
  },
)

t.test('sends the same bytes of the API description, and 304 to clients that have them', async t => {
  const host = await hostFor(t, HIGH_LIMITS)
  const first = await get(host, '/openapi.json')
  const etag = first.headers.get('etag') as string
  t.match(etag, /^"[\w-]{43}"$/)
  t.match(first.headers.get('content-type'), /^application\/json/)
  t.equal(first.headers.get('cache-control'), 'public, max-age=300')
  const text = await first.text()
  t.equal(await (await get(host, '/openapi.json')).text(), text)
  for (const held of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const response = await get(host, '/openapi.json', '192.0.2.1', { 'if-none-match': held })
    t.equal(response.status, 304, held)
    t.equal(response.headers.get('etag'), etag)
    t.equal(await response.text(), '')
  }
  const stale = await get(host, '/openapi.json', '192.0.2.1', { 'if-none-match': '"other"' })
  t.equal(stale.status, 200)
  t.equal(await stale.text(), text)
  const { paths } = JSON.parse(text) as {
    paths: Record<string, { get: { responses: Record<string, object> } }>
  }
  t.notOk('content' in (paths['/openapi.json']?.get.responses['304'] as object))
})

t.test(
  'limits each document by address, an IPv6 address by its /64, and never the liveness check',
  async t => {
    const host = await hostFor(t, { RATE_LIMITS: '{"documentsPerAddressPerMinute":3}' })
    for (const path of DOCUMENTS) {
      for (let n = 0; n < 3; n++) t.equal((await get(host, path, `2001:db8:0:1::${n}`)).status, 200)
      const fourth = await get(host, path, '2001:db8:0:1::ffff')
      t.equal(fourth.status, 429, `${path}, whatever was asked of the other documents`)
      t.match(await fourth.json(), { error: 'rate_limited', limit: 'documentsPerAddressPerMinute' })
      t.ok(Number(fourth.headers.get('retry-after')) >= 1)
      t.equal((await get(host, path, '2001:db8:0:2::1')).status, 200, 'a neighbour is not affected')
      t.equal((await get(host, path, '203.0.113.9')).status, 200)
    }
    const alive = await Promise.all(
      Array.from({ length: 50 }, () => get(host, '/healthz', '2001:db8:0:1::1')),
    )
    t.same(new Set(alive.map(({ status }) => status)), new Set([200]))
    const description = await get(host, '/openapi.json', '198.51.100.1')
    const { paths } = (await description.json()) as {
      paths: Record<string, { get: { responses: Record<string, object> } }>
    }
    for (const path of DOCUMENTS) t.ok(paths[path]?.get.responses['429'], `${path} documents it`)
  },
)

t.test('limits and serves documents while the store of the other limits is down', async t => {
  const redis = await startRedis([])
  t.teardown(() => redis.stop())
  const env = { REDIS_URL: redis.url, RATE_LIMITS: '{"documentsPerAddressPerMinute":2}' }
  const host = await hostFor(t, env)
  await redis.stop()
  const statuses = []
  for (let n = 0; n < 3; n++) statuses.push((await get(host, '/readyz')).status)
  t.same(statuses, [200, 200, 429])
})
