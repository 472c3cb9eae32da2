import t from 'tap'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { startTestHost } from '../../harness/host.ts'

t.test('a host does not start on a database whose transactions read from a snapshot', async t => {
  const { env, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  for (const level of ['repeatable read']) {
    const url = new URL(env['DATABASE_URL'] as string)
    const options = `${url.searchParams.get('options')} -c default_transaction_isolation=${level.replace(' ', '\\ ')}`
    url.searchParams.set('options', options)
    await t.rejects(startTestHost({ ...env, DATABASE_URL: url.href }), {
      code: 'ERR_STORE_UNAVAILABLE',
      cause: { message: new RegExp(`is ${level}: set it to read committed`) },
    })
  }
})
