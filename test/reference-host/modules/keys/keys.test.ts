import t from 'tap'
import {
  bearer,
  bootstrapUser,
  openTestHost,
  type HttpResponse,
  type RequestOptions,
  sessionOf,
} from '../../../harness/host.ts'

const host = await openTestHost(t)

type Key = { readonly id: string; readonly text: string }
const call = (token: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> =>
  host.send(path, { ...options, headers: { ...bearer(token), ...options.headers } })
const created = async (token: string, body: object, path = '/user/v1/keys'): Promise<Key> => {
  const response = await call(token, path, { body })
  if (response.status !== 200) throw new Error(JSON.stringify(response.body))
  return { id: response.body['userKeyId'] as string, text: response.body['userApiKey'] as string }
}
const minted = (key: string, body?: object): Promise<string> => sessionOf(host.send, key, body)
const listed = async (token: string): Promise<Record<string, unknown>[]> =>
  (await call(token, '/user/v1/keys')).body['keys'] as Record<string, unknown>[]

/** Sends requests until the token is denied: sessions end when the guard has read the feed. */
async function ends(token: string): Promise<void> {
  while ((await call(token, '/user/v1/keys')).status !== 401)
    await new Promise(resolve => setTimeout(resolve, 20))
}

t.test(
  'creates a child of the calling key, shown once, under both prefixes and their legacy names',
  async t => {
    const { token, key } = await bootstrapUser(host.send)
    for (const path of [
      '/user/v1/keys',
      '/consumer/v1/keys',
      '/identity/user-api-keys',
      '/identity/consumer-api-keys',
    ]) {
      const { status, body } = await call(token, path, { body: { scopes: ['keys.read'] } })
      t.equal(status, 200)
      t.match(body, {
        userApiKey: /^gw_sandbox_user_/,
        userKeyId: String,
        keyPrefix: String,
        scopes: ['keys.read'],
      })
      t.equal(body['consumerApiKey'], body['userApiKey'])
      t.equal(body.data['consumerKeyId'], body['userKeyId'])
    }
    const keys = await listed(token)
    t.equal(keys.length, 5)
    t.notMatch(JSON.stringify(keys), key.slice(-36), 'no list shows a secret')
    t.match(keys[0], {
      id: String,
      keyPrefix: /^gw_sandbox_user_/,
      scopes: Array,
      createdAt: String,
      revokedAt: null,
    })
  },
)

t.test('names a key, renames it without ending its sessions, and lists the label', async t => {
  const { token } = await bootstrapUser(host.send, { keyLabel: 'laptop' })
  const made = await call(token, '/user/v1/keys', {
    body: { label: 'agent-shopping', scopes: ['keys.read'] },
  })
  t.match(made, { status: 200, body: { label: 'agent-shopping' } })
  const [id, text] = [made.body['userKeyId'] as string, made.body['userApiKey'] as string]
  const session = await minted(text)
  const path = `/user/v1/keys/${id}`
  const renamed = await call(token, path, { method: 'PATCH', body: { label: 'agent-travel' } })
  t.match(renamed, {
    status: 200,
    body: { label: 'agent-travel', summary: 'The label of the key is changed.' },
  })
  t.equal((await call(session, '/user/v1/keys')).status, 200)
  t.match(await listed(token), [{ label: 'agent-travel' }, { label: 'laptop' }])
  for (const label of ['', 'a\nb', 'x'.repeat(65), text, 7]) {
    const denied = await call(token, path, { method: 'PATCH', body: { label } })
    t.match(denied, { status: 400, body: { error: 'invalid_request', field: 'label' } })
  }
  const itself = await call(session, path, { method: 'PATCH', body: { label: 'laptop' } })
  t.equal(itself.status, 403, 'a key cannot take the name of another')
})

t.test('makes a key that ends by itself, in the future and not after its parent', async t => {
  const { token } = await bootstrapUser(host.send)
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const made = await created(token, { expiresAt })
  t.match(await listed(token), [{ id: made.id, expiresAt }, { expiresAt: null }])
  const below = await call(await minted(made.text), '/user/v1/keys', {
    body: { expiresAt: '2100-01-01T00:00:00Z' },
  })
  t.equal(below.status, 200)
  t.match((await listed(token))[0], { expiresAt })
  for (const past of ['2020-01-01T00:00:00Z', 'tomorrow', 7]) {
    const denied = await call(token, '/user/v1/keys', { body: { expiresAt: past } })
    t.match(denied, { status: 400, body: { field: 'expiresAt' } })
  }
})

t.test('ends the sessions of a changed or revoked key within a second', async t => {
  const { token } = await bootstrapUser(host.send)
  const child = await created(token, { scopes: ['keys.read', 'cards.read'] })
  const session = await minted(child.text)
  const patched = await call(token, `/user/v1/keys/${child.id}`, {
    method: 'PATCH',
    body: { scopes: ['keys.read'] },
  })
  t.match(patched, { status: 200, body: { id: child.id, scopes: ['keys.read'], revokedAt: null } })
  await ends(session)

  const again = await minted(child.text)
  const same = await call(token, `/user/v1/keys/${child.id}`, {
    method: 'PATCH',
    body: { scopes: ['keys.read'] },
  })
  t.match(same, { status: 200, body: { summary: /its sessions have ended/ } })
  // Also if the change leaves the key as it was.
  await ends(again)

  const next = await minted(child.text)
  t.match(await call(token, `/user/v1/keys/${child.id}`, { method: 'DELETE' }), {
    status: 200,
    body: { id: child.id, revokedAt: String },
  })
  await ends(next)
  const denied = await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': child.text } })
  t.match(denied, { status: 401, body: { error: 'unauthorized' } })
})

t.test('revokes by PATCH too, and denies a change of nothing', async t => {
  const { token } = await bootstrapUser(host.send)
  const { id } = await created(token, {})
  const path = `/user/v1/keys/${id}`
  t.match(await call(token, path, { method: 'PATCH', body: {} }), { status: 400, body: { field: 'scopes' } })
  t.match(await call(token, path, { method: 'PATCH', body: { policy: { x: 1 } } }), {
    status: 400,
    body: { field: 'policy.x' },
  })
  t.match(await call(token, path, { method: 'PATCH', body: { revoke: true } }), {
    body: { revokedAt: String },
  })
})

t.test('lists and ends sessions', async t => {
  const { token, key } = await bootstrapUser(host.send)
  const other = await minted(key, { ttlSeconds: 60 })
  const { body } = await call(token, '/user/v1/sessions')
  const sessions = body['sessions'] as { sessionId: string; current: boolean }[]
  t.equal(sessions.length, 2)
  t.equal(sessions.filter(({ current }) => current).length, 1)
  const { sessionId } = sessions.find(({ current }) => !current) as { sessionId: string }
  t.match(await call(token, `/user/v1/sessions/${sessionId}`, { method: 'DELETE' }), { body: { ended: 1 } })
  await ends(other)
  t.match(await call(token, '/user/v1/sessions/current', { method: 'DELETE' }), { status: 200 })
  await ends(token)
})

t.test('reports no failure for any of these requests', async t => t.same(host.failures, []))
