import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import {
  bearer,
  bootstrapUser,
  openTestHost,
  type HttpResponse,
  type RequestOptions,
} from '../../../harness/host.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(t, {}, clock)

const call = (token: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> =>
  host.send(path, { ...options, headers: { ...bearer(token), ...options.headers } })
const mint = async (key: string): Promise<{ token: string; id: string }> => {
  const { body } = await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
  return { token: body['sessionToken'] as string, id: body['sessionId'] as string }
}
const make = async (token: string): Promise<{ key: string; id: string }> => {
  const { body } = await call(token, '/user/v1/keys', { body: {} })
  return { key: body['userApiKey'] as string, id: body['userKeyId'] as string }
}
const idOf = (key: string): string => key.split('_')[3] as string
const listed = async (token: string): Promise<Record<string, unknown>[]> =>
  (await call(token, '/user/v1/keys')).body['keys'] as Record<string, unknown>[]
const works = async (key: string): Promise<boolean> =>
  (await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })).status === 200

t.test('lists which key and session created a key, and null for a key created by a wallet', async t => {
  const user = await bootstrapUser(host.send, {}, clock.now())
  const session = await mint(user.key)
  const made = await make(session.token)
  await call(session.token, `/user/v1/keys/${made.id}/rotate`, { body: {} })
  const keys = await listed(user.token)
  const by = { keyId: idOf(user.key), sessionId: session.id }
  t.match(
    keys.find(({ id }) => id === idOf(user.key)),
    { createdBy: null, rotatedBy: null },
  )
  t.match(
    keys.find(({ id }) => id === made.id),
    { createdBy: by, rotatedBy: null },
  )
  const successor = keys.find(({ id }) => id !== made.id && id !== idOf(user.key))
  t.match(successor, { createdBy: by, rotatedBy: by })
})

t.test('a key below stays below its parent, whose lineage it names, when the parent is rotated', async t => {
  const user = await bootstrapUser(host.send, {}, clock.now())
  const session = await mint(user.key)
  const made = await make(session.token)
  const root = idOf(user.key)
  const rotated = await host.send(`/user/v1/keys/${root}/rotate`, {
    body: { overlapSeconds: 3600 },
    headers: { 'x-user-key': user.key },
  })
  t.equal(rotated.status, 200)
  const keys = await listed(user.token)
  const lineageOf = (wanted: unknown): unknown => {
    const key = keys.find(({ id }) => id === wanted)
    return [key?.['lineageId'], key?.['parentLineageId']]
  }
  t.same(lineageOf(root), [root, null])
  t.same(lineageOf(rotated.body['userKeyId']), [root, null])
  t.same(lineageOf(made.id), [made.id, root])
})

t.test(
  'revokes the keys that a session created with keys=revoke, also after the session expired',
  async t => {
    for (const ms of [0, 16 * 60_000]) {
      const user = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())
      const session = await mint(user.key)
      const made = await make(session.token)
      const below = await make((await mint(made.key)).token)
      const kept = await make((await mint(user.key)).token)
      clock.advance(ms)
      const path = `/user/v1/sessions/${session.id}?keys=revoke`
      const sibling = await mint(kept.key)
      t.match(await call(sibling.token, path, { method: 'DELETE' }), { status: 404 })
      const response = await call(user.token, path, { method: 'DELETE' })
      t.match(response, { status: 200, body: { ended: ms === 0 ? 1 : 0, revokedKeys: 2 } })
      t.same(await Promise.all([made, below, kept].map(({ key }) => works(key))), [false, false, true])
      t.match(await call(user.token, path, { method: 'DELETE' }), { status: 200, body: { revokedKeys: 0 } })
    }
  },
)

t.test('keeps the keys of an ended session without keys=revoke, and denies any other spelling', async t => {
  const user = await bootstrapUser(host.send, {}, clock.now())
  const session = await mint(user.key)
  const made = await make(session.token)
  for (const query of ['keys=', 'keys=all', 'keys=revoke&keys=revoke']) {
    const response = await call(user.token, `/user/v1/sessions/${session.id}?${query}`, { method: 'DELETE' })
    t.match(response, { status: 400, body: { error: 'invalid_request', field: 'keys' } })
  }
  const plain = await call(user.token, `/user/v1/sessions/${session.id}`, { method: 'DELETE' })
  t.match(plain, { status: 200, body: { ended: 1 } })
  t.equal(plain.body['revokedKeys'], undefined)
  t.equal(await works(made.key), true)
})

t.test('reports no failure for any of these requests', async t => t.same(host.failures, []))
