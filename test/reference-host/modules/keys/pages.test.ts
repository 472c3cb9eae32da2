import t from 'tap'
import { bearer, bootstrapUser, openTestHost } from '../../../harness/host.ts'

const PATHS = ['/user/v1/keys', '/identity/user-api-keys', '/consumer/v1/keys', '/identity/consumer-api-keys']

const host = await openTestHost(t, { RATE_LIMITS: 'off' })

/** The ids on all pages, and how many bytes the largest response had. */
async function pagesOf(token: string, path: string, name: 'keys' | 'sessions', limit?: number) {
  const ids: string[] = []
  let [pages, mostBytes] = [0, 0]
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const query = new URLSearchParams({ ...(limit && { limit: String(limit) }), ...(cursor && { cursor }) })
    const { status, body } = await host.send(`${path}?${query.toString()}`, { headers: bearer(token) })
    if (status !== 200) throw new Error(JSON.stringify(body))
    const rows = body.data[name] as { id?: string; sessionId?: string }[]
    ids.push(...rows.map(row => row.id ?? (row.sessionId as string)))
    // Members are repeated at the top level for existing clients.
    t.same(body['nextCursor'], body.data['nextCursor'])
    t.same(body[name], rows)
    mostBytes = Math.max(mostBytes, Buffer.byteLength(JSON.stringify(body)))
    cursor = body.data['nextCursor'] as string | null
  }
  return { ids, pages, mostBytes }
}

t.test(
  'pages keys under every name of the list, and returns the first page to a caller that names none',
  async t => {
    const { token } = await bootstrapUser(host.send)
    for (let n = 0; n < 6; n++)
      t.equal((await host.send('/user/v1/keys', { body: {}, headers: bearer(token) })).status, 200)
    const { ids, pages } = await pagesOf(token, '/user/v1/keys', 'keys')
    t.same([new Set(ids).size, pages], [7, 1])
    for (const path of PATHS) t.match(await pagesOf(token, path, 'keys', 3), { ids, pages: 3 }, path)
  },
)

t.test('pages sessions, and marks the calling one on its page', async t => {
  const { token, key } = await bootstrapUser(host.send)
  for (let n = 0; n < 6; n++)
    t.equal((await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })).status, 200)
  const { ids, pages } = await pagesOf(token, '/user/v1/sessions', 'sessions')
  t.same([new Set(ids).size, pages], [7, 1])
  t.match(await pagesOf(token, '/user/v1/sessions', 'sessions', 3), { ids, pages: 3 })
})

t.test('takes the cursor of another list as none of its own', async t => {
  const { token } = await bootstrapUser(host.send)
  const foreign = Buffer.from('after:1').toString('base64url')
  for (const path of [...PATHS, '/user/v1/sessions'])
    t.match(await host.send(`${path}?cursor=${foreign}`, { headers: bearer(token) }), {
      status: 400,
      body: { field: 'cursor' },
    })
  // A cursor grants nothing: a place that no row has is a place all the same.
  const place = Buffer.from('at:1:zzzz').toString('base64url')
  for (const path of [...PATHS, '/user/v1/sessions'])
    t.match(await host.send(`${path}?cursor=${place}`, { headers: bearer(token) }), {
      status: 200,
      body: { nextCursor: null },
    })
})
