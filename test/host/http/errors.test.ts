import { request as httpRequest } from 'node:http'
import t from 'tap'
import { bearer, bootstrapUser, startTestHost } from '../../harness/host.ts'

const host = await startTestHost()
t.teardown(() => host.close())
const user = await bootstrapUser(host.send)
const PAYIN = '/user/v1/subscriptions/payin'
const headers = { ...bearer(user.token), 'idempotency-key': '12345678' }

/** Sends a request target unchanged, which fetch would normalise. */
async function raw(path: string, method = 'GET'): Promise<{ status: number; body: { error?: string } }> {
  const { hostname, port } = new URL(host.url)
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, path, method }, response => {
      let text = ''
      response.on('data', chunk => (text += String(chunk)))
      response.on('end', () =>
        resolve({ status: response.statusCode as number, body: JSON.parse(text) as object }),
      )
    })
    sent.on('error', reject).end()
  })
}

t.test('denies a body that is not a JSON object of acceptable size and type', async t => {
  for (const body of ['{', '{"a":1}x', '\ufeff{}', '"text"', 'null', '[]', '7']) {
    t.match(await host.send(PAYIN, { body, headers }), {
      status: 400,
      body: { error: 'invalid_request', field: 'body', message: String },
    })
  }
  const big = await host.send(PAYIN, { body: { filler: 'x'.repeat(3_000_000) }, headers })
  t.match(big, { status: 413, body: { error: 'payload_too_large' } })
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    '',
  ]) {
    const response = await host.send(PAYIN, { body: '{}', headers: { ...headers, 'content-type': type } })
    t.match(response, { status: 415, body: { error: 'unsupported_media_type' } })
  }
  // Within the bound of a body. A pay-in keeps fewer bytes, so the members go to an operation that ignores them.
  const fits = await host.send('/user/v1/folders', {
    body: { name: 'Travel', filler: 'x'.repeat(250_000) },
    headers,
  })
  t.equal(fits.status, 200, 'the connection and the host are still good')
})

t.test('denies text that is not UTF-8', async t => {
  const response = await fetch(host.url + PAYIN, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: Buffer.from('{"note":"\xff"}', 'latin1'),
  })
  t.equal(response.status, 400)
})

t.test(
  'responds to an unknown path with 404 and a wrong method with 405 and Allow, in the shape of the surface',
  async t => {
    for (const path of [
      '/nope',
      '/user/v1',
      '/user/v1/bootstrap/',
      '/USER/v1/bootstrap',
      '/user/v1/%62ootstrap',
    ]) {
      t.match(await host.send(path, { body: {} }), { status: 404, body: { error: 'not_found' } }, path)
    }
    t.match(await host.send('/partner/v1/nope'), {
      status: 404,
      body: { ok: false, errors: [{ code: 'not_found' }] },
    })
    const wrong = await host.send(PAYIN)
    t.match(wrong, { status: 405, body: { error: 'method_not_allowed' } })
    t.equal(wrong.headers.get('allow'), 'POST, OPTIONS')
    t.match(await host.send('/partner/v1/cards', { method: 'DELETE' }), { status: 405, body: { ok: false } })
  },
)

t.test('denies a request target that is not a path, and never aliases an ambiguous one', async t => {
  t.match(await raw('http://elsewhere.example/healthz'), { status: 400, body: { error: 'invalid_request' } })
  for (const path of [
    '//consumer/v1/bootstrap',
    '/consumer//v1/bootstrap',
    '/consumer/v1/../v1/bootstrap',
    '/consumer/v1;x/bootstrap',
    '/consumer%2fv1/bootstrap',
    '/consumer/v1/%',
    '/consumer/v10/bootstrap',
    '/user/v1/../../consumer/v1/bootstrap',
  ]) {
    t.match(await raw(path, 'POST'), { status: 404, body: { error: 'not_found' } }, path)
  }
})

t.test('puts a request id on every response', async t => {
  for (const path of ['/healthz', '/nope', PAYIN]) {
    t.match((await host.send(path)).headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
  }
})

t.test('serves health and verification keys to anyone', async t => {
  t.match(await host.send('/healthz'), { status: 200, body: { status: 'ok' } })
  const { status, body, headers } = await host.send('/.well-known/jwks.json')
  t.equal(status, 200)
  t.match(headers.get('cache-control'), /^public, max-age=\d+$/)
  const keys = body['keys'] as Record<string, string>[]
  t.ok(keys.length >= 1)
  for (const key of keys) {
    t.match(key, { kty: 'OKP', crv: 'Ed25519', kid: String, use: 'sig' })
    t.notOk('d' in key, 'no private part')
  }
})

t.test('keeps the legacy names of all operations, with a deprecation date on legacy paths', async t => {
  for (const path of ['/user/v1/bootstrap', '/user/v1/sessions', PAYIN]) {
    const legacy = path.replace('/user/v1', '/consumer/v1')
    const [now, then] = await Promise.all([host.send(path, { body: {} }), host.send(legacy, { body: {} })])
    t.equal(then.status, now.status)
    t.same(then.body, now.body)
    t.match(then.headers.get('deprecation'), /^@\d+$/)
    t.equal(then.headers.get('sunset'), null)
    t.equal(now.headers.get('deprecation'), null)
  }
})
t.test('reports no failure for any of these requests', async t => t.same(host.failures, []))
