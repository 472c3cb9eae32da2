import t from 'tap'
import { gatewright, jsonOf } from '../../../harness/gatewright.ts'
import { keptHostStoresEnv } from '../../../harness/host-stores.ts'
import { openTestHost, type HttpResponse } from '../../../harness/host.ts'
import { temporaryFolder } from '../../../harness/files.ts'

t.test('a session that is denied for its scopes stores no wallet address', async t => {
  const dataDir = temporaryFolder(t)
  const stores = await keptHostStoresEnv()
  t.teardown(() => stores.drop())
  const env = { ...stores.env, DATA_DIR: dataDir }
  const command = ['partner-keys', 'create', 'Acme', '--scopes', 'cards.read', '--json']
  const { key } = jsonOf<{ key: string }>(await gatewright(command, env))
  const host = await openTestHost(t, env)
  const send = (path: string, body: object): Promise<HttpResponse> =>
    host.send(`/partner/v1${path}`, { body, headers: { 'x-partner-key': key } })
  const [one, two] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
  await send('/users/resolve', { userId: 'ann' })
  const wanted = { userId: 'ann', scopes: ['cards.read', 'cards.write'], walletAddress: one }
  const denied = await send('/sessions', wanted)
  t.match(denied, { status: 403, body: { error: 'insufficient_scope', message: /cards\.write/ } })
  t.notMatch(denied.body, { message: /cards\.read/ })
  t.match((await send('/users/resolve', { userId: 'ann' })).body.data, { walletAddress: null })
  t.equal((await send('/sessions', { ...wanted, scopes: ['cards.read'], walletAddress: two })).status, 200)
  t.match((await send('/users/resolve', { userId: 'ann' })).body.data, { walletAddress: two })
})
