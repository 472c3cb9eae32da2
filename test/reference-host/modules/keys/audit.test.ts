import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, bootstrapUser, openTestHost, sessionOf } from '../../../harness/host.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(t, {}, clock)

type Row = Readonly<Record<string, unknown>>

const mint = (key: string): Promise<string> => sessionOf(host.send, key)
const make = async (token: string, label: string): Promise<{ key: string; id: string }> => {
  const { body } = await host.send('/user/v1/keys', { body: { label }, headers: bearer(token) })
  return { key: body['userApiKey'] as string, id: body['userKeyId'] as string }
}
const page = async (token: string, query = ''): Promise<{ rows: Row[]; nextCursor: string | null }> => {
  const { status, body } = await host.send(`/user/v1/audit${query}`, { headers: bearer(token) })
  t.equal(status, 200)
  return body['data'] as { rows: Row[]; nextCursor: string | null }
}

const user = await bootstrapUser(host.send, { keyLabel: 'root' }, clock.now())
const agent = await make(user.token, 'agent')
clock.advance(1000)
const other = await make(user.token, 'other')
clock.advance(1000)
await host.send(`/user/v1/keys/${other.id}`, { method: 'DELETE', headers: bearer(user.token) })

t.test('says who did what to which key, newest first', async t => {
  const { rows } = await page(user.token)
  t.match(rows[0], {
    action: 'key.revoke',
    text: 'The key "root" revoked the key "other".',
    target: other.id,
    label: 'other',
    by: 'session',
  })
  t.ok(rows.some(({ text }) => String(text).startsWith('The wallet created the key ')))
})

t.test('lists every row once, page by page', async t => {
  const { rows: all } = await page(user.token, '?limit=100')
  const paged: Row[] = []
  let cursor: string | null = null
  do {
    const found = await page(user.token, `?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
    paged.push(...found.rows)
    cursor = found.nextCursor
  } while (cursor)
  t.same(paged, all)
})

t.test('filters by key and by time', async t => {
  const { rows } = await page(user.token, `?keyId=${agent.id}`)
  t.same(
    rows.map(({ action }) => action),
    ['key.create'],
  )
  t.same((await page(user.token, '?to=2020-01-01')).rows, [])
  t.same((await page(user.token, '?from=2100-01-01')).rows, [])
})

t.test('filters by kinds of changes, and refuses an unknown one with the known ones', async t => {
  const { rows } = await page(user.token, '?action=key.revoke,session.create')
  t.same([...new Set(rows.map(({ action }) => String(action)))].toSorted(), ['key.revoke', 'session.create'])
  t.same((await page(user.token, '?action=account.freeze')).rows, [])
  const wrong = await host.send('/user/v1/audit?action=revoked', { headers: bearer(user.token) })
  t.match(wrong, { status: 400, body: { field: 'action', message: /key\.create, key\.change/ } })
})

t.test('says every action as a sentence without names of programs', async t => {
  const owner = await bootstrapUser(host.send, { keyLabel: 'root' }, clock.now())
  const act = async (path: string, method: string, body?: object): Promise<Row> => {
    const sent = await host.send(`/user/v1${path}`, {
      method,
      body: body ?? {},
      headers: bearer(owner.token),
    })
    t.equal(sent.status, 200, `${method} ${path}: ${JSON.stringify(sent.body)}`)
    clock.advance(1000)
    return sent.body
  }
  const { id, key } = await make(owner.token, 'agent')
  await act(`/keys/${id}`, 'PATCH', { label: 'travel' })
  await act(`/keys/${id}/pause`, 'POST')
  await act(`/keys/${id}/resume`, 'POST')
  await mint(key)
  const { userKeyId } = await act(`/keys/${id}/rotate`, 'POST')
  await act(`/keys/${String(userKeyId)}`, 'DELETE')
  const said = (await page(owner.token)).rows.map(({ text }) => String(text).replace(/^The key "root"/, 'R'))
  for (const sentence of [
    'R created the key "agent".',
    'R changed the rights or the name of the key "travel".',
    'R paused the key "travel".',
    'R let the key "travel" work again.',
    'The key "travel" started a session.',
    'R replaced the key "travel" by a new key.',
    'R created the key "travel".',
    'R revoked the key "travel".',
  ])
    t.ok(said.includes(sentence), `${sentence}\n${said.join('\n')}`)
  t.notMatch(said.join('\n'), /\b(?:key|session|account)\.[a-z]/i)
})

t.test('shows a key with a key above it only its own tree, and another account nothing', async t => {
  const { rows } = await page(await mint(agent.key))
  t.ok(rows.length > 0)
  t.ok(rows.every(({ target, keyId }) => target === agent.id || keyId === agent.id))
  const stranger = await bootstrapUser(host.send, {}, clock.now())
  t.notOk((await page(stranger.token)).rows.some(({ target }) => target === agent.id || target === other.id))
})
