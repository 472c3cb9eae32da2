import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import t from 'tap'
import {
  bootstrapUser,
  newWallet,
  request,
  signedBootstrap,
  openTestHost,
  startTestHost,
} from '../../harness/host.ts'
import { temporaryFolder } from '../../harness/files.ts'

t.test('returns 503 with Retry-After when a table cannot be used, and reports the fault', async t => {
  const dataDir = temporaryFolder(t)
  const host = await openTestHost(t, { DATA_DIR: dataDir })
  const user = await bootstrapUser(host.send)
  const vandal = new Database(join(dataDir, 'host.sqlite'))
  for (const table of ['gw_nonces', 'gw_users']) vandal.exec(`drop table ${table}`)
  vandal.close()

  const responses = [
    await host.send('/user/v1/bootstrap', { body: await signedBootstrap(newWallet()) }),
    await host.send('/partner/v1/users/resolve', {
      body: { userId: 'ann' },
      headers: { 'x-partner-key': host.partnerKey },
    }),
  ]
  for (const { status, headers, body } of responses) {
    t.equal(status, 503)
    t.equal(body['error'], 'service_unavailable')
    t.match(headers.get('retry-after'), /^\d+$/)
    t.notMatch(JSON.stringify(body), /table|sqlite|gw_/i, 'no internal text')
  }
  t.equal(host.failures.length, 2)
  t.match(host.failures, [{ name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }])
  const mint = await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': user.key } })
  t.equal(mint.status, 200, 'what does not need the table still works')
})

t.test(
  'keeps generated secrets for the owner only, and refuses to start when they cannot be read',
  async t => {
    const dataDir = temporaryFolder(t)
    const first = await startTestHost({ DATA_DIR: dataDir })
    const { body } = await request(first.url, '/user/v1/bootstrap', {
      body: await signedBootstrap(newWallet()),
    })
    await first.close()
    const secrets = join(dataDir, 'secrets.json')
    t.equal(statSync(secrets).mode & 0o777, 0o600)

    const again = await startTestHost({ DATA_DIR: dataDir })
    const minted = await request(again.url, '/user/v1/sessions', {
      body: {},
      headers: { 'x-user-key': body['userApiKey'] as string },
    })
    t.equal(minted.status, 200, 'the key still authenticates under the same pepper')
    await again.close()

    const { dataKey: _, ...older } = JSON.parse(readFileSync(secrets, 'utf8')) as Record<string, unknown>
    writeFileSync(secrets, JSON.stringify(older))
    await t.rejects(
      startTestHost({ DATA_DIR: dataDir }),
      /secrets\.json has no dataKey: restore it from a backup, or set DATA_DIR to another folder/,
    )
    t.same(JSON.parse(readFileSync(secrets, 'utf8')), older, 'the file is unchanged')
    writeFileSync(secrets, '{ half a file')
    await t.rejects(
      startTestHost({ DATA_DIR: dataDir }),
      /secrets\.json cannot be read as JSON: restore it from a backup/,
    )
  },
)
