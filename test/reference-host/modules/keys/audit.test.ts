import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, bootstrapUser, startTestHost } from '../../../harness/host.ts'

const clock = manualClock(Date.now())
const host = await startTestHost({}, clock)
t.teardown(() => host.close())

type Row = Readonly<Record<string, unknown>>

const mint = async (key: string): Promise<string> => {
  const { body } = await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
  return body['sessionToken'] as string
}
const make = async (token: string, label: string): Promise<{ key: string; id: string }> => {
  const { body } = await host.send('/user/v1/keys', { body: { label }, headers: bearer(token) })
  return { key: body['userApiKey'] as string, id: body['userKeyId'] as string }
}
const page = async (token: string, query = ''): Promise<{ rows: Row[]; nextCursor: string | null }> => {
  const { status, body } = await host.send(`/user/v1/audit${query}`, { headers: bearer(token) })
  t.equal(status, 200)
  return body['data'] as { rows: Row[]; nextCursor: string | null }
}

const user = await bootstrapUser(host.send, {}, clock.now())
const agent = await make(user.token, 'agent')
clock.advance(1000)
const other = await make(user.token, 'other')
clock.advance(1000)
await host.send(`/user/v1/keys/${other.id}`, { method: 'DELETE', headers: bearer(user.token) })

t.test('says who did what to which key, newest first', async t => {
  const { rows } = await page(user.token)
  t.match(rows[0], {
    action: 'key.revoke',
    what: 'Revoked a key',
    target: other.id,
    label: 'other',
    by: 'session',
  })
  t.ok(rows.some(({ who, what }) => who === 'The wallet' && what === 'Created a key'))
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

t.test('shows a key with a key above it only its own tree, and another account nothing', async t => {
  const { rows } = await page(await mint(agent.key))
  t.ok(rows.length > 0)
  t.ok(rows.every(({ target, keyId }) => target === agent.id || keyId === agent.id))
  const stranger = await bootstrapUser(host.send, {}, clock.now())
  t.notOk((await page(stranger.token)).rows.some(({ target }) => target === agent.id || target === other.id))
})
