import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createService, openIssuer } from '../../examples/exchange-key/service.ts'
import { runNode } from '../harness/node.ts'

async function start() {
  const issuer = await openIssuer(':memory:')
  const server = createService(issuer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const created = await issuer.createKey({
    surface: 'user',
    accountId: 'a',
    userId: null,
    walletAddress: null,
    scopes: ['cards.read'],
  })
  if (!created.ok) throw new Error(created.code)
  const post = async (path: string, body: string, key: string) => {
    const response = await fetch(url + path, { method: 'POST', body, headers: { 'x-user-key': key } })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { url, post, key: created.value.text, close: () => server.close() }
}

t.test('the client of the example runs to its end', async t => {
  const { code, output } = await runNode(['build/examples/exchange-key/main.js'])
  t.equal(code, 0, output)
  t.match(output, /session .* scope "cards.read"/)
  t.match(output, /denied {3}insufficient_scope/)
})

t.test('the service responds with the statuses it documents', async t => {
  const { post, url, key, close } = await start()
  t.teardown(close)
  t.match(await post('/sessions', '{}', key), { status: 201, body: { scopes: ['cards.read'] } })
  t.match(await post('/sessions', '{}', 'junk'), { status: 401, body: { error: 'unauthorized' } })
  t.match(await post('/sessions', '{', key), { status: 400, body: { error: 'invalid_request' } })
  t.match(await post('/sessions', '{"ttlSeconds":5}', key), { status: 400, body: { field: 'ttlSeconds' } })
  t.match(await post('/sessions', '{"scopes":["x.read"]}', key), { status: 403 })
  t.match(await post('/nowhere', '{}', key), { status: 404 })
  const { body } = await post('/keys/rotate', '', key)
  t.match(await post('/sessions', '{}', body['key'] as string), { status: 201 })
  t.match(await post('/sessions', '{}', key), { status: 201 }, 'within the overlap')
  const jwks = await fetch(`${url}/.well-known/jwks.json`)
  t.equal(jwks.headers.get('cache-control'), 'public, max-age=300')
})
