// For how long the keys of an issuer serve, and when they are fetched again.
import { setImmediate as turn } from 'node:timers/promises'
import { discoverKeys, remoteKeys } from '@gatewright/scope-guard'
import t, { type Test } from 'tap'
import { ec, issuer, OAUTH, OPENID } from './metadata-server.ts'

/** Stops the monotonic clock, by which keys age, at a whole ms, and returns what moves it on. */
function manualTime(t: Test): (ms: number) => void {
  const { now } = performance
  t.teardown(() => (performance.now = now))
  let time = Math.ceil(now.call(performance))
  performance.now = () => time
  return ms => void (time += ms)
}

/** Waits until something that runs meanwhile has happened. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await turn()
}

/** The limits of 5 seconds that requests set from now on, in ms. */
function timeoutsSet(t: Test): readonly number[] {
  const original = globalThis.setTimeout
  t.teardown(() => (globalThis.setTimeout = original))
  const set: number[] = []
  globalThis.setTimeout = ((run: () => void, ms: number) => {
    if (ms === 5000) set.push(ms)
    return original(run, ms)
  }) as typeof setTimeout
  return set
}

t.test('repeats a failure for further requests for a second, and then queries the issuer again', async t => {
  const advance = manualTime(t)
  const { url, routes, serveMetadata, requested } = await issuer(t)
  const keys = discoverKeys(url)
  for (let i = 0; i < 20; i++) await t.rejects(async () => keys('ec'), { code: 'ERR_KEYS_UNAVAILABLE' })
  t.same(requested, [OPENID, OAUTH])
  routes[OPENID] = serveMetadata
  advance(999)
  await t.rejects(async () => keys('ec'), { code: 'ERR_KEYS_UNAVAILABLE' })
  advance(1)
  t.match(await keys('ec'), { kid: 'ec' })
})

t.test('from half of its age on, the set is fetched while requests go on with it', async t => {
  const advance = manualTime(t)
  const { url, routes, serveMetadata, requested, keys: published } = await issuer(t)
  routes[OPENID] = serveMetadata
  const keys = discoverKeys(url, { maxAgeMs: 2000, cooldownMs: 100 })
  await keys('ec')
  const { fetch } = globalThis
  t.teardown(() => (globalThis.fetch = fetch))
  let fetches = 0
  globalThis.fetch = (...request) => {
    fetches++
    return fetch(...request)
  }
  advance(999)
  await keys('ec')
  t.equal(fetches, 0)
  let release: (() => void) | undefined
  routes[OPENID] = (request, response) => {
    release = () => serveMetadata(request, response)
  }
  published[0] = { ...ec.jwk, kid: 'next' }
  advance(1)
  t.match(
    await keys('ec'),
    { kid: 'ec' },
    'the request does not wait for the fetch, which has no response yet',
  )
  await until(() => release !== undefined)
  release?.()
  await until(() => requested.length === 4)
  while ((await keys('ec')) !== undefined) await turn()
  t.match(await keys('next'), { kid: 'next' })
  t.equal(requested.length, 4)
})

t.test(
  'a fetch that never ends, as on Workers after its request, is replaced by one of a later request',
  async t => {
    const advance = manualTime(t)
    const { url, routes, serveMetadata } = await issuer(t)
    routes[OPENID] = serveMetadata
    const keys = discoverKeys(url, { timeoutMs: 15_000 })
    const { fetch } = globalThis
    t.teardown(() => (globalThis.fetch = fetch))
    globalThis.fetch = () => new Promise(() => {})
    const ended: string[] = []
    void Promise.resolve(keys('ec')).then(
      () => ended.push('first'),
      () => {},
    )
    globalThis.fetch = fetch
    advance(59_999)
    const waiting = t.rejects(
      async () => keys('ec'),
      { code: 'ERR_KEYS_UNAVAILABLE' },
      'nobody waits for ever',
    )
    advance(1)
    t.match(await keys('ec'), { kid: 'ec' }, 'after four times the limit of a fetch')
    await waiting
    t.same(ended, [])
  },
)

t.test('a failed refresh leaves the keys in use until their age, and no longer', async t => {
  const advance = manualTime(t)
  const { url, routes, serveMetadata, requested } = await issuer(t)
  routes[OPENID] = serveMetadata
  const keys = discoverKeys(url, { maxAgeMs: 600, cooldownMs: 200 })
  await keys('ec')
  delete routes[OPENID]
  advance(300)
  for (let i = 0; i < 10; i++) t.match(await keys('ec'), { kid: 'ec' })
  await until(() => requested.length === 4)
  advance(199)
  t.match(await keys('ec'), { kid: 'ec' })
  t.equal(requested.length, 4, 'one refresh in the cool-down')
  advance(101)
  await t.rejects(async () => keys('ec'), { code: 'ERR_KEYS_UNAVAILABLE' })
})

t.test('fetches again for an unknown key, once per cool-down', async t => {
  const advance = manualTime(t)
  const { url, routes, serveMetadata, keys: published, requested } = await issuer(t)
  routes[OPENID] = serveMetadata
  const keys = discoverKeys(url, { cooldownMs: 300 })
  await keys('ec')
  published.push({ ...ec.jwk, kid: 'next' })
  for (let i = 0; i < 20; i++) t.equal(await keys('next'), undefined)
  advance(299)
  t.equal(await keys('next'), undefined)
  t.equal(requested.length, 2)
  advance(1)
  t.match(await keys('next'), { kid: 'next' })
  t.equal(requested.length, 4)
})

t.test(
  'by default keys serve for ten minutes, and an unknown key causes a fetch every 30 seconds',
  async t => {
    const advance = manualTime(t)
    const timeouts = timeoutsSet(t)
    const { url, routes, serveMetadata, requested } = await issuer(t)
    routes[OPENID] = serveMetadata
    const keys = discoverKeys(url)
    await keys('ec')
    t.same(timeouts, [5000, 5000])
    advance(29_999)
    t.equal(await keys('unknown'), undefined)
    t.equal(requested.length, 2)
    advance(1)
    t.equal(await keys('unknown'), undefined)
    t.equal(requested.length, 4)
    delete routes[OPENID]
    advance(599_999)
    t.match(await keys('ec'), { kid: 'ec' })
    advance(1)
    await t.rejects(async () => keys('ec'), { code: 'ERR_KEYS_UNAVAILABLE' })
  },
)

t.test('keys of a URL serve as long by default, and an unknown key causes a fetch as often', async t => {
  const { now } = Date
  t.teardown(() => (Date.now = now))
  let time = now()
  Date.now = () => time
  const timeouts = timeoutsSet(t)
  const { origin, requested } = await issuer(t)
  const keys = remoteKeys(new URL(`${origin}/keys`))
  await keys('ec')
  t.same(timeouts, [5000])
  time += 29_999
  await keys('unknown')
  t.equal(requested.length, 1)
  time += 1
  await keys('unknown')
  t.equal(requested.length, 2)
  time += 599_999
  await keys('ec')
  t.equal(requested.length, 2)
  time += 1
  await keys('ec')
  t.equal(requested.length, 3)
})

t.test('tries a failed refresh again after its cool-down and not before', async t => {
  const advance = manualTime(t)
  const { url, routes, serveMetadata } = await issuer(t)
  routes[OPENID] = serveMetadata
  const keys = discoverKeys(url, { maxAgeMs: 1000, cooldownMs: 200 })
  await keys('ec')
  const { fetch } = globalThis
  t.teardown(() => (globalThis.fetch = fetch))
  let fetches = 0
  globalThis.fetch = () => {
    fetches++
    return Promise.reject(new Error('down'))
  }
  const fetchesOf = async (): Promise<number> => {
    t.match(await keys('ec'), { kid: 'ec' })
    await turn()
    return fetches
  }
  advance(500)
  t.equal(await fetchesOf(), 2, 'both addresses of metadata')
  advance(199)
  t.equal(await fetchesOf(), 2)
  advance(1)
  t.equal(await fetchesOf(), 4)
})
