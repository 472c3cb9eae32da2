// A client that connects on demand is connected by its first use.
import * as onFetch from 'gatewright/fetch'
import { redisStore } from 'gatewright/redis'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { freePort } from '../harness/services.ts'
import { uniqueName } from '../harness/stores.ts'
import { createWorld } from './world.ts'

const WRITE = { scope: 'payments.write' } as const
const post = (authorization: string, key: string): RequestInit => ({
  method: 'POST',
  body: '{}',
  headers: { authorization, 'content-type': 'application/json', 'idempotency-key': key },
})

/** A client that connects on demand. */
function lazyClient(t: Test, url: string): Redis {
  const client = new Redis(url, { lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0 })
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  return client
}

/** Writes of several accounts at once, on a store whose client has not connected. */
async function writesAtOnce(client: Redis): Promise<number[]> {
  const { options, token } = createWorld(redisStore(client, { prefix: uniqueName() }))
  const gate = { report: () => {}, hint: false as const }
  const limits = [{ name: 'perKey', points: 100, windowSeconds: 60, per: 'key' }] as const
  const pay = onFetch
    .gatewright({ ...options, gate, limits, peer: 'none' })
    .write('payments.create', WRITE, () => ({ status: 201 }))
  const tokens = await Promise.all(['ann', 'bob', 'cas'].map(name => token('payments.write', name)))
  const responses = await Promise.all(
    tokens.map(each => pay(new Request('http://api.test/', post(`Bearer ${each}`, 'key-00000001')))),
  )
  return responses.map(({ status }) => status)
}

t.test('a client of ioredis with lazyConnect is connected by the first requests', async t => {
  const client = lazyClient(t, process.env['TEST_REDIS_URL'] as string)
  t.equal(client.status, 'wait')
  t.same(await writesAtOnce(client), [201, 201, 201])
})

t.test('a client of ioredis with lazyConnect that cannot connect is a store that is down', async t => {
  const client = lazyClient(t, `redis://127.0.0.1:${await freePort()}`)
  t.same(await writesAtOnce(client), [503, 503, 503])
})
