import { randomBytes } from 'node:crypto'
import type { FaultCode } from '@gatewright/kernel'
import t, { type Test } from 'tap'
import type { Backend } from '../../../packages/reference-host/dist/storage/backend.js'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { faultProxy, type FaultProxy } from '../../harness/proxy.ts'

type Storage = typeof import('../../../packages/reference-host/dist/storage/redis.js') &
  typeof import('../../../packages/reference-host/dist/storage/postgres.js')

const load = (file: string): Promise<object> =>
  import(`${process.cwd()}/packages/reference-host/dist/storage/${file}.js`)
const { withRedis, postgresBackend } = Object.assign(
  {},
  ...(await Promise.all(['redis', 'postgres'].map(load))),
) as Storage

const UNAVAILABLE = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' satisfies FaultCode }
const LIMIT_MS = 500

/** A proxy in front of a store, which can make it silent. */
async function front(t: Test, url: string): Promise<FaultProxy> {
  const proxy = await faultProxy(url, bytes => bytes)
  t.teardown(() => proxy.close())
  return proxy
}

t.test('a command fails when Redis stays silent', async t => {
  const proxy = await front(t, process.env['TEST_REDIS_URL'] as string)
  const database = { checks: {}, close: async () => {} } as unknown as Backend
  const backend = await withRedis(database, { url: proxy.url }, LIMIT_MS)
  t.teardown(() => backend.close())
  proxy.harm = 'silent'
  await t.rejects(backend.nonces.claim('nonce', Date.now() + 60_000, Date.now()), {
    ...UNAVAILABLE,
    message: 'redis did not answer within 0.5 s',
  })
})

const secrets = {
  ...{ keyPeppers: [], dataKeys: [], operatorToken: undefined },
  signingKeyEncryptionKey: randomBytes(32),
}

t.test('a statement fails when Postgres stays silent', async t => {
  const { env, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  const proxy = await front(t, env['DATABASE_URL'] as string)
  const backend = postgresBackend(proxy.url, secrets, LIMIT_MS)
  t.teardown(() => backend.close())
  await Promise.all([1, 2].map(() => backend.sql.query('select 1')))
  proxy.harm = 'silent'
  await Promise.all([
    t.rejects(backend.sql.query('select 1'), UNAVAILABLE),
    t.rejects(
      backend.sql.transaction(tx => tx.query('select 1')),
      UNAVAILABLE,
    ),
  ])
})

t.test('the limit of a statement does not apply to migrations', async t => {
  const { env, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  const backend = postgresBackend(env['DATABASE_URL'] as string, secrets, 1)
  await backend.migrate()
  t.teardown(() => backend.close())
  await t.rejects(backend.sql.query('select pg_sleep(0.1)'), UNAVAILABLE)
})
