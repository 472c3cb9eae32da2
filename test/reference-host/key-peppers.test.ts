import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { keptHostStoresEnv } from '../harness/host-stores.ts'
import { bootstrapUser, startTestHost, type TestHost } from '../harness/host.ts'

const [OLD, NEW] = [`old:${'o'.repeat(32)}`, `new:${'n'.repeat(32)}`]
const folder = mkdtempSync(join(tmpdir(), 'gatewright-peppers-'))
const stores = await keptHostStoresEnv()
t.teardown(async () => {
  await stores.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs hosts one after another on one database, each with its peppers. */
async function withPeppers<T>(peppers: readonly string[], work: (host: TestHost) => Promise<T>): Promise<T> {
  const env = { ...stores.env, DATA_DIR: folder, KEY_PEPPERS: peppers.join(',') }
  const host = await startTestHost(env)
  return work(host).finally(() => host.close())
}
const mint = (host: TestHost, key: string) =>
  host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })

t.test(
  'responds with 503 for a good key under a pepper that it does not know yet, and 200 once it does',
  async t => {
    const { key } = await withPeppers([OLD], host => bootstrapUser(host.send))
    t.match(await withPeppers([NEW, OLD], host => mint(host, key)), { status: 200 })
    await withPeppers([OLD], async host => {
      const response = await mint(host, key)
      t.match(response, { status: 503, body: { error: 'service_unavailable' } })
      t.ok(response.headers.get('retry-after'))
      t.match(host.failures, [{ code: 'ERR_PEPPER_MISSING' }])
    })
    t.match(await withPeppers([OLD, NEW], host => mint(host, key)), { status: 200 })
  },
)
