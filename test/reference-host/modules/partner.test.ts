import t from 'tap'
import { bearer, bootstrapUser, openTestHost, type HttpResponse } from '../../harness/host.ts'

const host = await openTestHost(t)
const partner = { 'x-partner-key': host.partnerKey }
const resolve = (body: object, path = '/partner/v1/users/resolve'): Promise<HttpResponse> =>
  host.send(path, { body, headers: partner })
const open = (body: object): Promise<HttpResponse> =>
  host.send('/partner/v1/sessions', { body, headers: partner })
const cards = (token: string, query = ''): Promise<HttpResponse> =>
  host.send(`/partner/v1/cards${query}`, { headers: bearer(token) })
const tokenOf = async (userId: string, scopes = ['cards.read']): Promise<string> => {
  await resolve({ userId })
  return (await open({ userId, scopes })).body.data['sessionToken'] as string
}

t.test('resolves a user once, under either canonical path', async t => {
  const address = `0x${'ab'.repeat(20)}`
  const first = await resolve({ userId: 'ann', walletAddress: address, walletLabel: 'Main' })
  t.equal(first.status, 200)
  t.match(first.body.data, {
    userId: 'ann',
    walletAddress: address.toLowerCase(),
    kycStatus: 'not_submitted',
  })
  t.notOk('userId' in first.body, 'partner responses have the envelope only')
  const again = await resolve({ userId: 'ann' }, '/users/resolve')
  t.same(again.body.data, first.body.data)
  t.equal(again.headers.get('deprecation'), null)
})

t.test('stores a wallet later, accepts the legacy field names, and denies a different wallet', async t => {
  const [one, two] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
  t.equal((await resolve({ externalUserId: 'bob' })).body.data['walletAddress'], null)
  const later = await resolve({ externalUserId: 'bob', wallet: { chain: 'evm', address: one } })
  t.equal(later.body.data['walletAddress'], one)
  const other = await resolve({ userId: 'bob', walletAddress: two })
  t.match(other, { status: 409, body: { error: 'invalid_state', ok: false, data: {} } })
  t.match(other.body['errors'], [{ error: 'invalid_state', code: 'invalid_state', field: 'walletAddress' }])
  t.equal((await open({ userId: 'bob', scopes: [], walletAddress: two })).status, 409)
  t.equal((await resolve({ userId: 'bob', externalUserId: 'eve' })).status, 400)
})

t.test('creates one user in 20 simultaneous first calls', async t => {
  const responses = await Promise.all(Array.from({ length: 20 }, () => resolve({ userId: 'many' })))
  t.same(new Set(responses.map(({ status }) => status)), new Set([200]))
  const page = await cards(await tokenOf('many'), '?limit=100')
  t.equal((page.body.data['cards'] as unknown[]).length, 25)
})

t.test('names the field when a user id is missing, empty or too long', async t => {
  for (const userId of [undefined, '', 'x'.repeat(256), '😀'.repeat(256), 7]) {
    const response = await resolve({ userId })
    t.match(response, { status: 400, body: { error: 'invalid_request', field: 'userId' } })
  }
  t.equal((await resolve({ userId: 'x'.repeat(255) })).status, 200)
})

t.test('creates sessions only for resolved users and within the scopes of the key', async t => {
  await resolve({ userId: 'cid' })
  t.match(await open({ userId: 'nobody', scopes: [] }), { status: 404, body: { error: 'not_found' } })
  t.match(await open({ userId: 'cid' }), { status: 400, body: { field: 'scopes' } })
  t.match(await open({ userId: 'cid', scopes: ['keys.write'] }), { status: 400, body: { field: 'scopes' } })
  const session = await open({ userId: 'cid', scopes: ['cards.read', 'balances.read'], ttlSeconds: 60 })
  t.match(session.body.data, {
    userId: 'cid',
    scopes: ['cards.read'],
    ignoredScopes: ['balances.read'],
    sessionToken: String,
    sessionId: String,
    expiresAt: String,
  })
  t.equal((await open({ userId: 'cid', scopes: [] })).status, 200)
})

t.test('never shows one user the cards of another', async t => {
  const ids = async (token: string): Promise<string[]> =>
    ((await cards(token, '?limit=100')).body.data['cards'] as { cardId: string }[]).map(card => card.cardId)
  const one = await ids(await tokenOf('fay'))
  const two = await ids(await tokenOf('gus'))
  t.equal(new Set([...one, ...two]).size, 50)
})

t.test('reads only the credential that the operation names', async t => {
  const token = await tokenOf('hal')
  const both = { ...partner, ...bearer(token) }
  t.equal((await host.send('/partner/v1/cards', { headers: both })).status, 200)
  t.equal((await host.send('/partner/v1/cards', { headers: partner })).status, 401)
  t.equal((await host.send('/partner/v1/sessions', { body: {}, headers: bearer(token) })).status, 401)
  const user = await bootstrapUser(host.send)
  const wrong = await host.send('/partner/v1/sessions', { body: {}, headers: { 'x-partner-key': user.key } })
  t.match(wrong, { status: 401, body: { error: 'unauthorized', ok: false } })
})
