// What bounds the writes of a whole account, however many keys and sessions it has.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { bearer, bootstrapUser, openTestHost, type HttpResponse, type TestHost } from '../../harness/host.ts'

async function setUp(limits: object): Promise<TestHost> {
  const host = await openTestHost(t, { RATE_LIMITS: JSON.stringify(limits) })
  return host
}

t.test(
  'limits the writes of an account over all its sessions, and lets its owner end any of them',
  async t => {
    const { send } = await setUp({ writesPerAccountPerMinute: 6 })
    const owner = await bootstrapUser(send)
    const mint = (key: string) => send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
    const folder = (token: string): Promise<HttpResponse> =>
      send('/user/v1/folders', { body: { name: 'a' }, headers: bearer(token) })
    const made = await send('/user/v1/keys', { body: {}, headers: bearer(owner.token) })
    const agent = { key: made.body['userApiKey'] as string, id: made.body['userKeyId'] as string }
    const agentToken = (await mint(agent.key)).body['sessionToken'] as string
    for (let n = 0; n < 5; n += 1) t.equal((await folder(agentToken)).status, 200)
    for (const token of [agentToken, owner.token, (await mint(owner.key)).body['sessionToken'] as string])
      t.match(await folder(token), { status: 429, body: { limit: 'writesPerAccountPerMinute' } })
    const end = { method: 'DELETE', headers: bearer(owner.token) }
    t.equal((await send('/user/v1/sessions/current', { ...end, headers: bearer(agentToken) })).status, 200)
    t.equal((await send(`/user/v1/keys/${agent.id}`, end)).status, 200)
    t.equal(
      (await folder((await bootstrapUser(send)).token)).status,
      200,
      'a neighbour has a limit of its own',
    )
  },
)

t.test('limits what an account mints, apart for its root keys and for what is below them', async t => {
  const { send } = await setUp({ mintsPerAccountPerMinute: 3 })
  const owner = await bootstrapUser(send)
  const mint = (key: string) => send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
  const below = async (): Promise<string> =>
    (await send('/user/v1/keys', { body: {}, headers: bearer(owner.token) })).body['userApiKey'] as string
  const [one, two] = [await below(), await below()]
  for (const key of [one, two, one]) t.equal((await mint(key)).status, 200)
  t.match(await mint(two), { status: 429, body: { limit: 'mintsPerAccountPerMinute' } })
  for (let n = 0; n < 3; n += 1) t.equal((await mint(owner.key)).status, 200, 'the root key mints on')
  t.match(await mint(owner.key), { status: 429, body: { limit: 'mintsPerAccountPerMinute' } })
})

t.test('does not limit what a partner key mints for its many accounts', async t => {
  const { send, partnerKey } = await setUp({ mintsPerAccountPerMinute: 1 })
  const headers = { 'x-partner-key': partnerKey }
  const userId = randomUUID()
  t.equal((await send('/partner/v1/users/resolve', { body: { userId }, headers })).status, 200)
  for (let n = 0; n < 3; n += 1) {
    const opened = await send('/partner/v1/sessions', { body: { userId, scopes: [] }, headers })
    t.equal(opened.status, 200)
  }
})
