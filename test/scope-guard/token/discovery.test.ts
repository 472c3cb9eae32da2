import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { createGuard, discoverKeys, remoteKeys } from '@gatewright/scope-guard'
import type { JWK } from 'jose'
import t, { type Test } from 'tap'
import { signingKey } from '../issuer.ts'

const OPENID = '/.well-known/openid-configuration'
const OAUTH = '/.well-known/oauth-authorization-server'
const ec = await signingKey('ES256', 'ec')
const json = (response: ServerResponse, value: unknown): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(value))

/** An issuer on loopback, by default with OpenID metadata at its root. `routes` replace the response of a path. */
async function issuer(t: Test, path = '') {
  const requested: string[] = []
  const keys: JWK[] = [ec.jwk]
  const routes: Record<string, RequestListener> = {}
  const server = createServer((request, response) => {
    requested.push(request.url ?? '')
    const route = routes[request.url ?? '']
    if (route) return route(request, response)
    response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = origin + path
  const metadata: Record<string, unknown> = { issuer: url, jwks_uri: `${origin}/keys` }
  const serveMetadata: RequestListener = (_, response) => json(response, metadata)
  routes['/keys'] = (_, response) => json(response, { keys })
  return { url, origin, requested, keys, routes, metadata, serveMetadata }
}

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

t.test('finds the keys from OpenID metadata, else from metadata of RFC 8414, also under a path', async t => {
  for (const [path, at] of [
    ['', OPENID],
    ['/', OPENID],
    ['/realms/demo', `/realms/demo${OPENID}`],
    ['/realms/demo/', `/realms/demo${OPENID}`],
    ['', OAUTH],
    ['/tenant', `${OAUTH}/tenant`],
  ] as const) {
    const { url, routes, serveMetadata, requested } = await issuer(t, path)
    routes[at] = serveMetadata
    const keys = discoverKeys(url)
    t.equal(requested.length, 0, 'nothing is fetched before the first token')
    t.match(await keys('ec'), { kid: 'ec', kty: 'EC' }, `${path} ${at}`)
    await Promise.all(Array.from({ length: 20 }, async () => keys('ec')))
    t.equal(await keys('unknown'), undefined)
    t.same(requested.at(-2), at)
    t.equal(requested.filter(each => each === '/keys').length, 1, 'one fetch serves all requests')
  }
})

t.test('simultaneous first requests share one fetch', async t => {
  const { url, routes, serveMetadata, requested } = await issuer(t)
  routes[OPENID] = serveMetadata
  const keys = discoverKeys(url)
  const found = await Promise.all(Array.from({ length: 50 }, async () => keys('ec')))
  t.ok(found.every(key => key?.kid === 'ec'))
  t.same(requested, [OPENID, '/keys'])
})

t.test('a fault names the URL and the cause', async t => {
  type Prepare = (at: Awaited<ReturnType<typeof issuer>>) => void
  const rejects = async (prepare: Prepare, message: RegExp, options = {}) => {
    const at = await issuer(t)
    at.routes[OPENID] = at.serveMetadata
    prepare(at)
    const keys = discoverKeys(at.url, options)
    await t.rejects(async () => keys('ec'), { name: 'Fault', code: 'ERR_KEYS_UNAVAILABLE', message })
  }
  const plain =
    (body: string): RequestListener =>
    (_, response) =>
      void response.end(body)
  await rejects(
    ({ routes }) => delete routes[OPENID],
    /openid-configuration: HTTP 404; .*oauth-authorization-server: HTTP 404/,
  )
  await rejects(
    ({ routes }) => (routes[OPENID] = plain('<html>')),
    /openid-configuration: the response is not JSON/,
  )
  await rejects(
    ({ routes }) => (routes[OPENID] = plain('[]')),
    /openid-configuration: the response is not a JSON object/,
  )
  await rejects(({ routes }) => (routes[OPENID] = () => {}), /openid-configuration: .*timeout/, {
    timeoutMs: 200,
  })
  await rejects(
    ({ routes }) =>
      (routes[OPENID] = (_, response) => void response.writeHead(302, { location: '/x' }).end()),
    /openid-configuration: redirects are not followed \(HTTP 302\)/,
  )
  await rejects(({ routes }) => (routes[OPENID] = plain(' '.repeat(1_100_000))), /larger than 1048576 bytes/)
  await rejects(
    ({ metadata, url }) => (metadata['issuer'] = `${url}/`),
    /openid-configuration must name the issuer "http:\/\/127.0.0.1:\d+", got "http:\/\/127.0.0.1:\d+\/": set the option issuer/,
  )
  await rejects(({ metadata }) => delete metadata['issuer'], /must name the issuer .* got undefined/)
  for (const named of [undefined, 5, 'keys', ['https://keys.example/']])
    await rejects(({ metadata }) => (metadata['jwks_uri'] = named), /must name a jwks_uri/)
  await rejects(
    ({ metadata }) => (metadata['jwks_uri'] = 'http://keys.example/'),
    /names http:\/\/keys.example\/, which is not https/,
  )
  await rejects(({ metadata }) => (metadata['jwks_uri'] = 'file:///etc/keys'), /which is not https/)
  await rejects(({ routes }) => delete routes['/keys'], /\/keys: HTTP 404/)
  await rejects(
    ({ routes }) => (routes['/keys'] = plain('{"keys":5}')),
    /\/keys: the response is not a key set/,
  )
  await rejects(
    ({ routes }) => (routes['/keys'] = plain('{"keys":[5]}')),
    /\/keys: the response is not a key set/,
  )
})

t.test('an address where nothing listens is a fault that says so, also for remoteKeys', async t => {
  const { url } = await issuer(t)
  const dead = url.replace('127.0.0.1', '127.0.0.2')
  const message = /127\.0\.0\.2:\d+.*ECONNREFUSED/
  await t.rejects(async () => discoverKeys(dead)('ec'), { code: 'ERR_KEYS_UNAVAILABLE', message })
  const remote = remoteKeys(new URL('/keys?secret=1', dead))
  await t.rejects(async () => remote('ec'), {
    code: 'ERR_KEYS_UNAVAILABLE',
    message: /127\.0\.0\.2:\d+\/keys is unavailable.*ECONNREFUSED/,
  })
})

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
  advance(999)
  await keys('ec')
  t.equal(requested.length, 2)
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
  'uses RSA keys without alg with the only RSA algorithm of the metadata, unless the team names one',
  async t => {
    const { url, routes, serveMetadata, keys: published, metadata } = await issuer(t)
    routes[OPENID] = serveMetadata
    const rsa = await signingKey('PS256', 'rsa', false)
    published.push(rsa.jwk)
    metadata['id_token_signing_alg_values_supported'] = ['PS256', 'ES256', 'none', 7]
    t.match(await discoverKeys(url)('rsa'), { alg: 'PS256' })
    metadata['id_token_signing_alg_values_supported'] = ['PS256', 'RS256']
    t.equal((await discoverKeys(url)('rsa'))?.alg, undefined)
    t.equal((await discoverKeys(url)('ec'))?.alg, 'ES256')
  },
)

t.test(
  'leaves the algorithm of other keys as it is published, where the metadata names one of RSA',
  async t => {
    const { url, routes, serveMetadata, keys: published, metadata } = await issuer(t)
    routes[OPENID] = serveMetadata
    metadata['id_token_signing_alg_values_supported'] = ['PS256']
    const unnamed = await signingKey('ES256', 'unnamed', false)
    const named = await signingKey('RS256', 'named')
    published.push(unnamed.jwk, named.jwk)
    const keys = discoverKeys(url)
    t.same(await keys('ec'), ec.jwk)
    t.same(await keys('unnamed'), unnamed.jwk)
    t.same(await keys('named'), named.jwk)
  },
)

t.test('reads a document of 1,048,576 bytes and no larger one', async t => {
  const { url, routes, metadata } = await issuer(t)
  const serve = (size: number): void => {
    const text = JSON.stringify(metadata)
    routes[OPENID] = (_, response) => void response.end(text + ' '.repeat(size - text.length))
  }
  serve(1_048_576)
  t.match(await discoverKeys(url)('ec'), { kid: 'ec' })
  serve(1_048_577)
  await t.rejects(async () => discoverKeys(url)('ec'), /larger than 1048576 bytes/)
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

t.test('rejects an issuer that is no https URL, except on loopback or where it is allowed', async t => {
  const audience = 'a'
  for (const bad of [
    'i',
    'http://login.example',
    'ftp://login.example',
    'https://x.example/?a=1',
    'https://x.example/#a',
    'https://u:p@x.example',
  ]) {
    t.throws(
      () => createGuard({ issuer: bad, audience }),
      { name: 'TypeError', message: /^createGuard: / },
      bad,
    )
    t.throws(() => discoverKeys(bad), { name: 'TypeError', message: /^discoverKeys: / }, bad)
    t.doesNotThrow(() => createGuard({ issuer: bad, audience, keys: async () => undefined }))
  }
  t.throws(
    () => createGuard({ issuer: 'i', audience }),
    /issuer must be an https: URL .* got "i": correct it, or set keys/,
  )
  t.throws(() => discoverKeys('http://login.example'), /not encrypted/)
  t.doesNotThrow(() => discoverKeys('http://login.example', { allowHttp: true }))
  t.doesNotThrow(() => discoverKeys('http://[::1]:3000'))
  t.throws(
    () => createGuard({ issuer: 'https://x.example', audience, keys: null as never }),
    /keys must be a function/,
  )
})
