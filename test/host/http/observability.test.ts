import { randomUUID } from 'node:crypto'
import { readConfig, startHost } from '@gatewright/reference-host'
import type { Decision } from '@gatewright/http'
import { createClient } from 'redis'
import t from 'tap'
import {
  bearer,
  bootstrapUser,
  newWallet,
  request,
  signedBootstrap,
  openTestHost,
  startTestHost,
  type RequestOptions,
  sessionOf,
} from '../../harness/host.ts'
import { startRedis } from '../../harness/services.ts'
import { temporaryFolder } from '../../harness/files.ts'

t.test('emits one decision event per request, with ids and causes and without credentials', async t => {
  const dataDir = temporaryFolder(t)
  const config = readConfig({ PORT: '0', DATA_DIR: dataDir })
  if (!config.ok) throw new Error(config.problems.join())
  const decisions: Decision[] = []
  const host = await startHost(config.value, { observe: each => decisions.push(each), report: () => {} })
  t.teardown(() => host.close())
  const send = (path: string, options?: RequestOptions) => request(host.url, path, options)
  const user = await bootstrapUser(send)
  const headers = { ...bearer(user.token), 'idempotency-key': randomUUID() }
  const trace = '0af7651916cd43dd8448eb211c80319c'
  await send('/user/v1/subscriptions/payin', {
    body: { amountCents: 1 },
    headers: { ...headers, traceparent: `00-${trace}-b7ad6b7169203331-01` },
  })
  const again = await send('/consumer/v1/subscriptions/payin', { body: { amountCents: 1 }, headers })
  await send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': `${user.key}x` } })
  await send('/nope')

  t.match(decisions, [
    { operation: 'auth.bootstrap', status: 200, code: undefined },
    { operation: 'subscriptions.payin', status: 200, traceId: trace, accountId: /^acc_/, replayed: false },
    { operation: 'subscriptions.payin', aliases: ['/consumer/v1'], replayed: true, sessionId: String },
    { operation: 'sessions.create', status: 401, code: 'unauthorized', reason: String },
    { operation: undefined, status: 404, code: 'not_found' },
  ])
  t.equal(decisions[2]?.requestId, again.headers.get('x-request-id'))
  const text = JSON.stringify(decisions)
  for (const secret of [user.key, user.token, user.key.slice(-36)]) t.notOk(text.includes(secret))
})

t.test('counts requests by operation, status and code for Prometheus', async t => {
  const host = await openTestHost(t)
  await bootstrapUser(host.send)
  await host.send('/user/v1/keys')
  const response = await fetch(`${host.url}/metrics`)
  t.match(response.headers.get('content-type'), /^text\/plain/)
  const text = await response.text()
  t.match(text, 'gatewright_requests_total{operation="auth.bootstrap",status="200",code=""} 1')
  t.match(text, 'gatewright_requests_total{operation="keys.list",status="401",code="unauthorized"} 1')
  t.match(text, 'gatewright_request_duration_seconds_bucket{le="+Inf",operation="auth.bootstrap"} 1')
})

t.test('keeps the request id of its proxy, in the response, the error and the log', async t => {
  const host = await openTestHost(t, { TRUST_PROXY: '127.0.0.1' })
  const id = '5d1f5f0b-9c0a-4f0e-8a54-d1b4c8d3c001'
  const response = await fetch(`${host.url}/user/v1/keys`, { headers: { 'x-request-id': id } })
  t.equal(response.headers.get('x-request-id'), id)
  t.match(await response.json(), { requestId: id })
  t.equal(host.decisions.at(-1)?.requestId, id)
})

t.test('counts replays and blocks of policies for Prometheus', async t => {
  const host = await openTestHost(t)
  const owner = await bootstrapUser(host.send)
  const policy = { dailySpendCapCents: 100 }
  const agent = await host.send('/user/v1/keys', { body: { policy }, headers: bearer(owner.token) })
  const token = await sessionOf(host.send, agent.body['userApiKey'] as string)
  const pay = (amountCents: number, key: string = randomUUID()) =>
    host.send('/user/v1/subscriptions/payin', {
      body: { amountCents },
      headers: { ...bearer(token), 'idempotency-key': key },
    })
  const key = randomUUID()
  t.match(await pay(60, key), { status: 200 })
  t.match(await pay(60, key), { status: 200 })
  t.match(await pay(60), { status: 403, body: { error: 'policy_blocked' } })
  const text = await (await fetch(`${host.url}/metrics`)).text()
  t.match(text, 'gatewright_replays_total{operation="subscriptions.payin"} 1')
  t.match(text, 'gatewright_policy_blocks_total{rule="dailySpendCapCents"} 1')
  t.match(text, 'gatewright_lost_runs 0')
})

t.test('is ready while its dependencies work, and names each', async t => {
  const host = await openTestHost(t)
  t.match(await host.send('/readyz'), {
    status: 200,
    body: { status: 'ready', dependencies: { database: 'ok' } },
  })
})

t.test('goes on while Redis is down, and says that it is', async t => {
  const redis = await startRedis([])
  const host = await openTestHost(t, { REDIS_URL: redis.url })
  const statement = await signedBootstrap(newWallet())
  t.match(await host.send('/user/v1/bootstrap', { body: statement }), { status: 200 })
  await redis.stop()
  const dependencies = { database: 'ok', redis: 'down' }
  t.match(await host.send('/readyz'), { status: 200, body: { status: 'ready', dependencies } })
  const user = await bootstrapUser(host.send)
  const pay = await host.send('/user/v1/subscriptions/payin', {
    body: { amountCents: 1 },
    headers: { ...bearer(user.token), 'idempotency-key': randomUUID() },
  })
  t.match(pay, { status: 200 }, 'the process counts limits, and spend caps are in the database')
  const again = await host.send('/user/v1/bootstrap', { body: statement })
  t.match(again, { status: 401, body: { error: 'invalid_signature' } }, 'used nonces are in the database')
})

t.test('accepts no statement again after Redis has lost everything', async t => {
  const redis = await startRedis([])
  const host = await startTestHost({ REDIS_URL: redis.url })
  t.teardown(async () => {
    await host.close()
    await redis.stop()
  })
  const statement = await signedBootstrap(newWallet())
  t.match(await host.send('/user/v1/bootstrap', { body: statement }), { status: 200 })
  const client = await createClient({ url: redis.url }).connect()
  await client.flushAll()
  client.destroy()
  const again = await host.send('/user/v1/bootstrap', { body: statement })
  t.match(again, { status: 401, body: { error: 'invalid_signature' } })
})

t.test('responds to OPTIONS and HEAD, and lets browsers read its header fields', async t => {
  const host = await openTestHost(t)
  const preflight = await fetch(`${host.url}/user/v1/keys`, { method: 'OPTIONS' })
  t.equal(preflight.status, 204)
  t.equal(preflight.headers.get('allow'), 'GET, HEAD, POST, OPTIONS')
  t.match(preflight.headers.get('access-control-allow-headers'), /idempotency-key/)
  t.notMatch(preflight.headers.get('access-control-allow-headers'), /partner-key/)
  const head = await fetch(`${host.url}/healthz`, { method: 'HEAD' })
  t.equal(head.status, 200)
  t.equal(await head.text(), '')
  t.match(head.headers.get('access-control-expose-headers'), /RateLimit-Policy/)
  t.equal(head.headers.get('x-content-type-options'), 'nosniff')
  t.equal((await fetch(`${host.url}/nope`, { method: 'OPTIONS' })).status, 404)
})
