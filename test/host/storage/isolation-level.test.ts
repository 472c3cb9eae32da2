import t from 'tap'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { startTestHost } from '../../harness/host.ts'

t.test('a host does not start on a database whose transactions read from a snapshot', async t => {
  const { env, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  const refused = [
    ['all', 'repeatable read'],
    ['all', 'serializable'],
    ['minimal', 'repeatable read'],
  ] as const
  for (const [features, level] of refused) {
    const url = new URL(env['DATABASE_URL'] as string)
    const options = `${url.searchParams.get('options')} -c default_transaction_isolation=${level.replace(' ', '\\ ')}`
    url.searchParams.set('options', options)
    await t.rejects(startTestHost({ ...env, DATABASE_URL: url.href, DATABASE_FEATURES: features }), {
      code: 'ERR_STORE_UNAVAILABLE',
      cause: { message: new RegExp(`is ${level}: set it to read committed`) },
    })
  }
})
