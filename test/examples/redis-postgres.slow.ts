import t from 'tap'
import { uniqueName } from '../harness/stores.ts'
import { startExample } from './start.ts'

t.test('example redis-postgres replays across a restart and counts limits in Redis', async t => {
  const env = {
    REDIS_URL: process.env['TEST_REDIS_URL'] as string,
    DATABASE_URL: process.env['TEST_POSTGRES_URL'] as string,
    STORE_NAME: uniqueName(),
  }
  const order = async (): Promise<Response> => {
    const { url, output, stop } = await startExample(t, 'redis-postgres', env)
    const authorization = `Bearer ${/TOKEN=(\S+)/.exec(output)?.[1]}`
    const headers = { authorization, 'idempotency-key': 'my-first-order' }
    const response = await fetch(`${url}/v1/orders`, { method: 'POST', headers })
    t.equal(await stop(), 0, 'ends by itself on SIGTERM')
    return response
  }
  const first = await order()
  const again = await order()
  t.match([first.status, again.status], [201, 201])
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.match(first.headers.get('ratelimit'), /r=599/)
  t.match(again.headers.get('ratelimit'), /r=598/)
})
