import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { gatewright } from '../../harness/gatewright.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { bearer, bootstrapUser, startTestHost, type HttpResponse } from '../../harness/host.ts'
import { moneyUser } from '../../harness/money.ts'

const host = await startTestHost()
t.teardown(() => host.close())

const get = (token: string, path: string): Promise<HttpResponse> =>
  host.send(`/user/v1/requests${path}`, { headers: bearer(token) })
const listed = async (token: string, query = ''): Promise<Record<string, unknown>[]> => {
  const response = await get(token, query)
  if (response.status !== 200) throw new Error(JSON.stringify(response.body))
  return response.body.data['requests'] as Record<string, unknown>[]
}
/** A session of a new key below that of a session. */
async function keyBelow(token: string, body: object) {
  const made = await host.send('/user/v1/keys', { body, headers: bearer(token) })
  const { userApiKey, userKeyId } = made.body as unknown as Record<string, string>
  const headers = { 'x-user-key': userApiKey as string }
  const minted = await host.send('/user/v1/sessions', { body: {}, headers })
  return { id: userKeyId as string, token: minted.body['sessionToken'] as string }
}

t.test('lists refused requests and writes with the reason, and no reads that succeeded', async t => {
  const { token } = await bootstrapUser(host.send)
  const agent = await keyBelow(token, { label: 'agent', policy: { dailySpendCapCents: 1000 } })
  const money = moneyUser(host.send, { token: agent.token })
  t.equal((await money.write('/subscriptions/payin', { amountCents: 700 })).status, 200)
  const refused = await money.write('/subscriptions/payin', { amountCents: 400 })
  t.equal(refused.status, 403)
  t.equal((await host.send('/user/v1/keys', { headers: bearer(token) })).status, 200)
  const secret = `secret-${randomUUID()}`
  await host.send('/user/v1/keys', {
    body: { scopes: [secret.slice(0, 10)], label: secret },
    headers: bearer(token),
  })

  const found = await listed(token)
  t.same(
    found.map(({ operation, status }) => `${String(operation)} ${String(status)}`),
    [
      'keys.create 400',
      'subscriptions.payin 403',
      'subscriptions.payin 200',
      'sessions.create 200',
      'keys.create 200',
    ],
  )
  t.match(found[1], {
    keyId: agent.id,
    error: 'policy_blocked',
    rule: 'dailySpendCapCents',
    policyKeyId: agent.id,
    message: refused.body.message,
    details: { remaining: 300, requested: 400, limit: 1000 },
  })
  t.notMatch(JSON.stringify(found), secret, 'no body is kept')
  t.notMatch(JSON.stringify(found), token)
  t.match(await listed(token, '?outcome=refused&rule=dailySpendCapCents'), [{ status: 403 }])
  t.match(await listed(token, `?keyId=${agent.id}&outcome=allowed`), [{ status: 200 }, { status: 200 }])
  t.match(await get(token, '?outcome=bad'), { status: 400, body: { field: 'outcome' } })
  const first = await get(token, '?limit=2')
  const second = await get(token, `?limit=9&cursor=${String(first.body.data['nextCursor'])}`)
  t.same((second.body.data['requests'] as unknown[]).length, 4, 'the 400 is one of them')
})

t.test('shows a request by the id of its response, with what would be decided now', async t => {
  const { token } = await bootstrapUser(host.send)
  const agent = await keyBelow(token, { policy: { dailySpendCapCents: 1000 } })
  const refused = await moneyUser(host.send, { token: agent.token }).write('/subscriptions/payin', {
    amountCents: 1200,
  })
  const id = refused.headers.get('x-request-id') as string
  t.match(await get(token, `/${id}`), {
    status: 200,
    body: { data: { request: { id, status: 403 }, now: { allowed: false, rule: 'dailySpendCapCents' } } },
  })
  const raised = { method: 'PATCH', body: { policy: { dailySpendCapCents: 5000 } }, headers: bearer(token) }
  t.equal((await host.send(`/user/v1/keys/${agent.id}`, raised)).status, 200)
  t.match((await get(token, `/${id}`)).body.data['now'], { allowed: true, error: null })
  t.match(await listed(token, '?rule=dailySpendCapCents'), [{ id }], 'nothing was counted or kept by looking')
  await host.send(`/user/v1/keys/${agent.id}`, { method: 'DELETE', headers: bearer(token) })
  t.equal((await get(token, `/${id}`)).body.data['now'], null, 'the key has ended')
  t.equal((await get(token, `/${randomUUID()}`)).status, 404)
})

t.test('a key sees its own requests and those below it, and nobody those of another account', async t => {
  const { token } = await bootstrapUser(host.send)
  const parent = await keyBelow(token, {})
  const child = await keyBelow(parent.token, {})
  const sibling = await keyBelow(token, {})
  for (const by of [parent, child, sibling])
    await host.send('/user/v1/keys', { body: { scopes: ['x'] }, headers: bearer(by.token) })
  const keysOf = async (who: string, query = '') =>
    new Set((await listed(who, `?outcome=refused${query}`)).map(({ keyId }) => keyId))
  t.same(await keysOf(parent.token), new Set([parent.id, child.id]))
  t.same(await keysOf(child.token), new Set([child.id]))
  t.same(await keysOf(child.token, `&keyId=${sibling.id}`), new Set())
  t.same(await keysOf(token), new Set([parent.id, child.id, sibling.id]))
  const [row] = await listed(sibling.token)
  const path = `/${String(row?.['id'])}`
  t.equal((await get(child.token, path)).status, 404)
  const stranger = await bootstrapUser(host.send)
  t.same(await listed(stranger.token), [])
  t.equal((await get(stranger.token, path)).status, 404)
})

t.test('commands list and show the requests of every account, with the exact cause', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-requests-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  // The commands run on the stores of the host.
  const stores = await hostStoresEnv()
  t.teardown(() => stores.drop())
  const env = { ...stores.env, DATA_DIR: dataDir, PORT: '0' }
  const asked = await startTestHost(env)
  const { token, userId } = await bootstrapUser(asked.send)
  const unknown = await asked.send('/user/v1/cards', { headers: bearer('no token') })
  const mistaken = await asked.send('/user/v1/keys', { body: { scopes: ['x'] }, headers: bearer(token) })
  await asked.close()
  const run = async (...args: string[]) => {
    const { code, output } = await gatewright(['requests', ...args, '--json'], env)
    if (code !== 0) throw new Error(output)
    return JSON.parse(output) as unknown
  }
  const idOf = ({ headers }: HttpResponse) => headers.get('x-request-id') as string
  t.match(await run('list', '--outcome', 'refused'), [
    { id: idOf(mistaken), error: 'invalid_request', field: 'scopes' },
    { id: idOf(unknown), accountId: null, keyId: null, status: 401, reason: 'not a canonical compact JWS' },
  ])
  t.match(await run('list', '--account', userId, '--limit', '1'), [{ id: idOf(mistaken) }])
  t.match(await run('show', idOf(unknown)), { operation: 'cards.list' })
  t.match(await gatewright(['requests', 'show', 'nothing'], env), {
    code: 1,
    output: /no kept request nothing/,
  })
  t.match(await gatewright(['requests', 'list', '--outcome', 'bad'], env), {
    code: 2,
    output: /must be one of/,
  })
})

t.test('reports no failure for any of these requests', async t => t.same(host.failures, []))
