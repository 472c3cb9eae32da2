import t from 'tap'
import { bearer, bootstrapUser, request, spawnHost, openTestHost } from '../harness/host.ts'
import { Leaks, reportResponse, watchForLeaks } from '../harness/leaks.ts'
import { temporaryFolder } from '../harness/files.ts'

t.test('the scan at the end of every test host finds a leaked credential', async t => {
  const host = await openTestHost(t)
  const { key, token } = await bootstrapUser(host.send)
  await host.send('/user/v1/keys', { headers: bearer(`${token}x`) })
  for (const said of [key, token, `{"message":"${key.slice(-36)}"}`, token.split('.')[2] as string]) {
    const leaks = new Leaks()
    leaks.exchanged(JSON.stringify({ key, token }))
    leaks.said(`id ${key.slice(0, 32)}`)
    t.doesNotThrow(() => leaks.check())
    leaks.said(said)
    t.throws(() => leaks.check(), /a secret was said/)
  }
})

t.test('the scan at the end of every host process finds a secret that it printed', async t => {
  const dataDir = temporaryFolder(t)
  const host = await spawnHost(dataDir)
  const { token } = await bootstrapUser((path, options) => request(host.url, path, options))
  const email = 'zebedee.quillfeather@example.com'
  const headers = bearer(token)
  await request(host.url, '/user/v1/users', { method: 'PATCH', body: { email }, headers })
  const denied = await request(host.url, '/user/v1/users', { headers: bearer(`${token}x`) })
  t.equal(denied.status, 401)
  t.equal(await host.stop('SIGTERM'), 0)

  const watched = watchForLeaks('http://a-host-that-says-it')
  reportResponse(
    'http://a-host-that-says-it',
    JSON.stringify({ email }),
    400,
    `{"message":"${email} is wrong"}`,
  )
  t.throws(() => watched.check(), /a secret was said/)
})
