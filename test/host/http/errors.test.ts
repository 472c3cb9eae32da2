import { request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { bearer, bootstrapUser, openTestHost } from '../../harness/host.ts'

const host = await openTestHost(t)
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

t.test('an error begins with its code, then says what is wrong and where to look', async t => {
  const response = await fetch(`${host.url}/user/v1/keys`, {
    method: 'POST',
    headers: { ...bearer(user.token), 'content-type': 'application/json' },
    body: JSON.stringify({ scopes: ['card.read'] }),
  })
  const body = (await response.json()) as Record<string, unknown>
  t.same(Object.keys(body), ['error', 'message', 'field', 'requestId', 'docs'])
  t.match(body, {
    message: 'scopes has an unknown scope: "card.read"; did you mean cards.read?',
    requestId: response.headers.get('x-request-id'),
    docs: /\/errors\.(md|html)#invalid_request$/,
  })
})

t.test('a stored denial has no request id in its body, so that a replay is the same to the byte', async t => {
  const send = async () => {
    const response = await fetch(`${host.url}/user/v1/payments`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': 'stored-denial-1', 'content-type': 'application/json' },
      body: JSON.stringify({ to: { walletAddress: `0x${'1'.repeat(40)}` }, amountCents: 5 }),
    })
    return { id: response.headers.get('x-request-id'), text: await response.text() }
  }
  const [first, again] = [await send(), await send()]
  t.match(JSON.parse(first.text), { error: 'payee_not_found', field: 'to', docs: String })
  t.equal(again.text, first.text)
  t.not(again.id, first.id)
})

t.test('says how to get a session token, and which credential came in its place', async t => {
  const message = async (sent: Record<string, string>) => {
    const { status, body } = await host.send('/user/v1/cards', { headers: sent })
    t.equal(status, 401)
    return body['message'] as string
  }
  t.match(await message(bearer(user.key)), /^This is an API key, not a session token\. Send the user key/)
  t.match(await message(bearer('gw_live_partner_junk')), /A partner key belongs to \/partner\/v1/)
  t.match(await message({ 'x-partner-key': host.partnerKey }), /A partner key belongs to \/partner\/v1/)
  t.match(
    await message({ 'x-user-key': user.key }),
    /Send the user key as X-User-Key to POST \/user\/v1\/sessions/,
  )
  const returnsOne =
    'POST /user/v1/sessions with X-User-Key returns one, or POST /partner/v1/sessions with X-Partner-Key.'
  t.equal(await message(bearer('junk')), `The session token is not valid: get a new one. ${returnsOne}`)
  t.equal(await message({}), `A bearer session token is required. ${returnsOne}`)
})

t.test('names the path that was probably meant', async t => {
  const meant = async (path: string) => {
    const { body } = await host.send(path)
    return /did you mean (.*)\?$/.exec(body['message'] as string)?.[1]
  }
  t.equal(await meant('/user/v1/card'), '/user/v1/cards')
  t.equal(await meant('/user/v1/cards/'), '/user/v1/cards')
  t.equal(await meant('/user/v1/crads/card_1/lock'), undefined)
  t.equal(await meant('/user/v1/keys/some-key/cap'), '/user/v1/keys/{keyId}/caps')
  t.equal(await meant('/nothing/like/it'), undefined)
  t.equal(await meant(`/${'a'.repeat(300)}`), undefined)
})

t.test('a policy must not misspell an operation, or it would deny nothing', async t => {
  const make = (policy: object) => host.send('/user/v1/keys', { body: { policy }, headers })
  const limits = [{ operations: ['withdrawal.*'], window: 'day', maxCents: 1 }]
  for (const [policy, field, near] of [
    [{ denyOperations: ['card.create'] }, 'policy.denyOperations', 'cards.create'],
    [{ allowOperations: ['cards.list', 'cards.crate'] }, 'policy.allowOperations', 'cards.create'],
    [{ denyOperations: ['elsewhere.unheardOf', 'card.create'] }, 'policy.denyOperations', 'cards.create'],
    [{ limits }, 'policy.limits[0].operations', 'withdrawals.*'],
    [
      { limits: [{ ...limits[0], operations: ['elsewhere.*', 'cards.*', 'withdrawal.*'] }] },
      'policy.limits[0].operations',
      'withdrawals.*',
    ],
  ] as const)
    t.match(await make(policy), {
      status: 400,
      body: { field, message: new RegExp(`did you mean ${near.replace('*', '\\*')}`) },
    })
  for (const operation of ['cards.authorize', 'cards.*', 'elsewhere.unheardOf'])
    t.equal((await make({ denyOperations: [operation] })).status, 200, operation)
})

t.test('says in words what a text must be', async t => {
  const pay = (walletAddress: unknown) =>
    host.send('/user/v1/payments', { body: { to: { walletAddress }, amountCents: 5 }, headers })
  t.match((await pay('bob')).body, { message: 'to.walletAddress must be 0x and 40 hex digits.' })
  t.match((await pay(7)).body, { message: 'to.walletAddress must be a text.' })
})

t.test('denies a body with a content coding on every surface, and names the accepted one', async t => {
  const body = gzipSync(JSON.stringify({ amountCents: 100 }))
  const credentials = { ...headers, 'x-user-key': user.key, 'x-partner-key': host.partnerKey }
  for (const path of [
    PAYIN,
    '/user/v1/bootstrap',
    '/user/v1/sessions',
    '/partner/v1/users/resolve',
    '/partner/v1/sessions',
    '/auth/challenge',
    // The signature of a provider covers the bytes as sent.
    '/providers/sandbox/events',
  ]) {
    const response = await fetch(host.url + path, {
      method: 'POST',
      headers: { ...credentials, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body,
    })
    t.equal(response.status, 415, path)
    t.equal(response.headers.get('accept-encoding'), 'identity', path)
    t.match(await response.json(), { error: 'unsupported_media_type', message: /Content-Encoding/ }, path)
  }
  const read = await host.send('/user/v1/cards', { headers: { ...headers, 'content-encoding': 'gzip' } })
  t.equal(read.status, 200, 'a read has no body')
})
