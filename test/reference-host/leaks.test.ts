import t from 'tap'
import { bearer, bootstrapUser, startTestHost } from '../harness/host.ts'
import { Leaks } from '../harness/leaks.ts'

t.test('the scan at the end of every test host finds a leaked credential', async t => {
  const host = await startTestHost()
  t.teardown(() => host.close())
  const { key, token } = await bootstrapUser(host.send)
  await host.send('/user/v1/keys', { headers: bearer(`${token}x`) })
  for (const said of [key, token, `{"message":"${key.slice(-36)}"}`, token.split('.')[2] as string]) {
    const leaks = new Leaks()
    leaks.handedOut(JSON.stringify({ key, token }))
    leaks.said(`id ${key.slice(0, 32)}`)
    t.doesNotThrow(() => leaks.check())
    leaks.said(said)
    t.throws(() => leaks.check(), /a credential was said/)
  }
})
