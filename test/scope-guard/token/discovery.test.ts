import type { RequestListener } from 'node:http'
import { createGuard, discoverKeys, remoteKeys } from '@gatewright/scope-guard'
import t from 'tap'
import { signingKey } from '../issuer.ts'
import { ec, issuer, OAUTH, OPENID } from './metadata-server.ts'

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
  for (const body of ['[]', 'null', '5', '"text"', 'true'])
    await rejects(
      ({ routes }) => (routes[OPENID] = plain(body)),
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
    ({ routes }) => (routes['/keys'] = plain('{"keys":[{"kid":"ec"},5]}')),
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
