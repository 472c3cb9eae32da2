import { randomUUID } from 'node:crypto'
import t from 'tap'
import { hostStoresEnv } from '../harness/host-stores.ts'
import {
  bearer,
  bootstrapUser,
  newWallet,
  request,
  signedBootstrap,
  spawnHost,
  type HttpResponse,
  type HostProcess,
  type RequestOptions,
} from '../harness/host.ts'
import { runNode } from '../harness/node.ts'
import { PROGRAMS } from '../harness/programs.ts'
import { decided } from './harness/repeats.ts'

const PAYIN = '/user/v1/subscriptions/payin'
const stores = await hostStoresEnv('postgres+redis')
const env = {
  ...stores.env,
  RATE_LIMITS:
    '{"guardedPerKeyPerMinute":60,"bootstrapPerAddressPerMinute":100000,"failedCredentialsPerAddressPerMinute":100000,"writesPerSessionPerMinute":100000}',
  LOG_LEVEL: 'warn',
}
/** All four start at once on an empty database and migrate it together. */
const hosts: HostProcess[] = await Promise.all(Array.from({ length: 4 }, () => spawnHost('unused', env)))
t.teardown(async () => {
  await Promise.all(hosts.map(host => host.stop('SIGTERM')))
  await stores.drop()
})
const send = (n: number, path: string, options?: RequestOptions): Promise<HttpResponse> =>
  request((hosts[n % 4] as HostProcess).url, path, options)
const any = (path: string, options?: RequestOptions): Promise<HttpResponse> => send(0, path, options)
const over4 = <T>(count: number, call: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => call(n)))
const pay = (n: number, token: string, body: object, key: string = randomUUID()): Promise<HttpResponse> =>
  send(n, PAYIN, { body, headers: { ...bearer(token), 'idempotency-key': key } })
const count = (responses: readonly HttpResponse[], status: number): number =>
  responses.filter(response => response.status === status).length

t.test('creates one key for one signed statement on 4 hosts', async t => {
  const body = await signedBootstrap(newWallet())
  const responses = await over4(40, n => send(n, '/user/v1/bootstrap', { body }))
  t.equal(count(responses, 200), 1)
  t.equal(count(responses, 401), 39)
})

t.test('a session verifies on every host, also after the signing key was rotated', async t => {
  const user = await bootstrapUser(any)
  const rotate = [PROGRAMS.command, 'signing-keys', 'rotate']
  t.equal((await runNode(rotate, { PATH: process.env['PATH'], ...env })).code, 0)
  const responses = await over4(4, n => send(n, '/user/v1/keys', { headers: bearer(user.token) }))
  t.equal(count(responses, 200), 4)
  const next = await send(3, '/user/v1/sessions', { body: {}, headers: { 'x-user-key': user.key } })
  const token = next.body['sessionToken'] as string
  t.equal(count(await over4(4, n => send(n, '/user/v1/keys', { headers: bearer(token) })), 200), 4)
})

t.test('a revoked key ends its sessions on the other hosts within a second of the response', async t => {
  const slowest: number[] = []
  for (let round = 0; round < 5; round++) {
    const user = await bootstrapUser(any)
    await over4(4, n => send(n, '/user/v1/keys', { headers: bearer(user.token) }))
    const { body } = await send(1, '/user/v1/keys', { headers: bearer(user.token) })
    const [{ id }] = body['keys'] as [{ id: string }]
    await send(0, `/user/v1/keys/${id}`, { method: 'DELETE', headers: bearer(user.token) })
    const revokedAt = performance.now()
    const ended = await over4(4, async n => {
      while (performance.now() - revokedAt < 5000) {
        const asked = performance.now()
        if ((await send(n, '/user/v1/keys', { headers: bearer(user.token) })).status === 401)
          return asked - revokedAt
      }
      return Infinity
    })
    slowest.push(Math.max(...ended))
  }
  t.ok(Math.max(...slowest) <= 1000, `${slowest.join()} ms`)
  t.comment(
    `measured: a revoked key was denied on all 4 hosts after ${slowest.map(Math.round).join(', ')} ms`,
  )
})

t.test('a daily spend cap of 10 payments lets 10 of 100 pass, over 4 hosts and several keys', async t => {
  const user = await bootstrapUser(any, { policy: { dailySpendCapCents: 1000 } })
  const keys = await over4(4, n => send(n, '/user/v1/keys', { body: {}, headers: bearer(user.token) }))
  const tokens = await Promise.all(
    keys.map(async (key, n) => {
      const headers = { 'x-user-key': key.body['userApiKey'] as string }
      return (await send(n, '/user/v1/sessions', { body: {}, headers })).body['sessionToken'] as string
    }),
  )
  const responses = await over4(100, n => {
    const key = randomUUID()
    return decided(() => pay(n, tokens[(n >> 2) % 4] as string, { amountCents: 100 }, key))
  })
  t.equal(count(responses, 200), 10)
  t.equal(count(responses, 403), 90)
  t.match(responses.find(({ status }) => status === 403)?.body, {
    error: 'policy_blocked',
    rule: 'dailySpendCapCents',
  })
})

t.test('a rate limit of 60 lets 60 of 100 pass, over 4 hosts', async t => {
  const user = await bootstrapUser(any)
  const responses = await over4(100, n => send(n, '/user/v1/keys', { headers: bearer(user.token) }))
  t.equal(count(responses, 200), 60)
  t.equal(count(responses, 429), 40)
})

t.test('one idempotency key makes one pay-in, over 4 hosts and both names of the path', async t => {
  const user = await bootstrapUser(any)
  const key = randomUUID()
  const responses = await over4(40, n =>
    send(n, n % 3 ? PAYIN : PAYIN.replace('user', 'consumer'), {
      body: { amountCents: 7 },
      headers: { ...bearer(user.token), 'idempotency-key': key },
    }),
  )
  const made = new Set(
    responses.filter(({ status }) => status === 200).map(({ body }) => JSON.stringify(body.data)),
  )
  t.equal(made.size, 1)
  t.equal(
    count(responses, 200) + count(responses, 429),
    40,
    'the rest gets the replay, or the denial that the first still runs',
  )
  t.ok(responses.every(({ status, body }) => status === 200 || body['error'] === 'request_in_progress'))
})

t.test('authorises a replay again: a narrower session gets 403, not the stored response', async t => {
  const user = await bootstrapUser(any)
  const key = randomUUID()
  t.equal((await pay(0, user.token, { amountCents: 9 }, key)).status, 200)
  const narrow = await send(1, '/user/v1/sessions', {
    body: { scopes: ['users.read'] },
    headers: { 'x-user-key': user.key },
  })
  const denied = await pay(2, narrow.body['sessionToken'] as string, { amountCents: 9 }, key)
  t.match(denied, { status: 403, body: { error: 'insufficient_scope' } })
})
