import { randomUUID } from 'node:crypto'
import t from 'tap'
import { bearer, bootstrapUser, startTestHost, type Answer } from '../../harness/host.ts'

t.test('lets 5 of 6 requests of a key pass when its limit is 5, whatever session they come by', async t => {
  const host = await startTestHost({ RATE_LIMITS: '{"guardedPerKeyPerMinute":5}' })
  t.teardown(() => host.close())
  const pay = (token: string, path = '/user/v1'): Promise<Answer> =>
    host.send(`${path}/subscriptions/payin`, {
      body: { amountCents: 1 },
      headers: { ...bearer(token), 'idempotency-key': randomUUID() },
    })
  const user = await bootstrapUser(host.send)
  for (let n = 1; n <= 5; n++) {
    const answer = await pay(user.token, n % 2 ? '/user/v1' : '/consumer/v1')
    t.equal(answer.status, 200)
    t.match(answer.headers.get('ratelimit'), `"guardedPerKeyPerMinute";r=${5 - n};t=`)
    t.match(answer.headers.get('ratelimit-policy'), /^"guardedPerKeyPerMinute";q=5;w=60/)
  }
  const minted = await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': user.key } })
  for (const token of [user.token, minted.body['sessionToken'] as string]) {
    const sixth = await pay(token)
    t.match(sixth, { status: 429, body: { error: 'rate_limited' } })
    t.match(sixth.headers.get('ratelimit'), /;r=0;t=\d+/)
    const reset = Number(/t=(\d+)/.exec(sixth.headers.get('ratelimit') as string)?.[1])
    t.ok(Number(sixth.headers.get('retry-after')) >= reset, 'Retry-After is never earlier than the reset')
  }
  const other = await bootstrapUser(host.send)
  t.equal((await pay(other.token)).status, 200)
})
