import { randomUUID } from 'node:crypto'
import t from 'tap'
import { bearer, bootstrapUser, openTestHost, type HttpResponse, sessionOf } from '../../../harness/host.ts'
import { newKey, setUp } from '../../../session-issuer/fixtures.ts'

t.test('accepts 5 of 6 requests of a key with a limit of 5, over all of its sessions', async t => {
  const host = await openTestHost(t, { RATE_LIMITS: '{"guardedPerKeyPerMinute":5}' })
  const pay = (token: string, path = '/user/v1'): Promise<HttpResponse> =>
    host.send(`${path}/subscriptions/payin`, {
      body: { amountCents: 1 },
      headers: { ...bearer(token), 'idempotency-key': randomUUID() },
    })
  const user = await bootstrapUser(host.send)
  for (let n = 1; n <= 5; n++) {
    const response = await pay(user.token, n % 2 ? '/user/v1' : '/consumer/v1')
    t.equal(response.status, 200)
    t.match(response.headers.get('ratelimit'), `"guardedPerKeyPerMinute";r=${5 - n};t=`)
    t.match(response.headers.get('ratelimit-policy'), /^"guardedPerKeyPerMinute";q=5;w=60/)
  }
  for (const token of [user.token, await sessionOf(host.send, user.key)]) {
    const sixth = await pay(token)
    t.match(sixth, { status: 429, body: { error: 'rate_limited' } })
    t.match(sixth.headers.get('ratelimit'), /;r=0;t=\d+/)
    const reset = Number(/t=(\d+)/.exec(sixth.headers.get('ratelimit') as string)?.[1])
    t.ok(Number(sixth.headers.get('retry-after')) >= reset, 'Retry-After is never earlier than the reset')
  }
  const other = await bootstrapUser(host.send)
  t.equal((await pay(other.token)).status, 200)
})

t.test('denies invalid keys and tokens with 401 in any number, and never denies the owner', async t => {
  const host = await openTestHost(t, { RATE_LIMITS: '{"failedCredentialsPerAddressPerMinute":3}' })
  const user = await bootstrapUser(host.send)
  const mint = (key: string): Promise<HttpResponse> =>
    host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
  const read = (token: string): Promise<HttpResponse> =>
    host.send('/user/v1/keys', { headers: bearer(token) })
  t.equal((await read(user.token)).status, 200, 'a session in use is known')
  for (const call of [() => mint(`${user.key.slice(0, -8)}00000000`), () => read(`${user.token}x`)]) {
    for (let n = 0; n < 6; n++) t.match(await call(), { status: 401, body: { error: 'unauthorized' } })
  }
  const minted = await mint(user.key)
  t.equal(minted.status, 200, 'a known key')
  t.equal((await read(minted.body['sessionToken'] as string)).status, 200, 'an unknown token')
  t.equal((await read(user.token)).status, 200)
})

t.test('accepts valid keys during a burst of well-formed unknown keys from the same address', async t => {
  const host = await openTestHost(t, { RATE_LIMITS: '{"failedCredentialsPerAddressPerMinute":3}' })
  const user = await bootstrapUser(host.send)
  // Keys of another issuer of the same environment: their form and checksum are valid, so only a read shows
  // that they are unknown.
  const { issuer } = setUp()
  const made = await Promise.all(Array.from({ length: 10 }, () => newKey(issuer, [])))
  const strangers = Array.from({ length: 10 }, () => made).flat()
  const mint = (key: string): Promise<HttpResponse> =>
    host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
  for (const { text } of strangers.slice(0, 5)) t.equal((await mint(text)).status, 401)
  const burst = strangers.map(({ text }) => mint(text))
  const owner = Array.from({ length: 10 }, () => mint(user.key))
  t.same(new Set((await Promise.all(burst)).map(({ status }) => status)), new Set([401]))
  t.same(new Set((await Promise.all(owner)).map(({ status }) => status)), new Set([200]))
})

t.test('limits bootstraps by address and mints by key', async t => {
  const host = await openTestHost(t, {
    RATE_LIMITS: '{"bootstrapPerAddressPerMinute":2,"mintsPerKeyPerMinute":2}',
  })
  const [one, two] = [await bootstrapUser(host.send), await bootstrapUser(host.send)]
  t.match(await host.send('/user/v1/bootstrap', { body: {} }), {
    status: 429,
    body: { limit: 'bootstrapPerAddressPerMinute' },
  })
  const mint = (key: string): Promise<HttpResponse> =>
    host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
  t.match((await mint(one.key)).headers.get('ratelimit'), /"mintsPerKeyPerMinute";r=1;t=\d+/)
  t.equal((await mint(one.key)).status, 200)
  t.equal((await mint(one.key)).status, 429)
  t.equal((await mint(two.key)).status, 200)
})
