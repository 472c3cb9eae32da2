import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bearer, bootstrapUser, startTestHost } from '../harness/host.ts'
import { temporaryFolder } from '../harness/files.ts'

const DISPLAY_NAME = 'Zebedee Quillfeather'
const EMAIL = 'zebedee.quillfeather@example.com'
const NOTE = 'the combination is 7-13-42'

t.test(
  'what people submit is in no file, event or metric of a host, and is there after a restart',
  async t => {
    const dataDir = temporaryFolder(t)
    const env = { DATA_DIR: dataDir }
    const host = await startTestHost(env)
    const user = await bootstrapUser(host.send)
    const headers = bearer(user.token)
    const body = { displayName: DISPLAY_NAME, email: EMAIL }
    await host.send('/user/v1/users', { method: 'PATCH', body, headers })
    const items = [{ id: 'note', value: NOTE }]
    const encrypted = await host.send('/user/v1/crypto/encrypt', { body: { items }, headers })
    await host.send('/user/v1/users', { method: 'PATCH', body: { ...body, email: `${EMAIL}@` }, headers })
    const said = JSON.stringify(host.decisions) + (await (await fetch(`${host.url}/metrics`)).text())
    const failures = host.failures.map(String).join()
    await host.close()

    const files = readdirSync(dataDir).map(name => readFileSync(join(dataDir, name)).toString('latin1'))
    t.ok(files.join('').includes(user.userId), 'the database was read')
    for (const secret of [DISPLAY_NAME, EMAIL, NOTE])
      for (const text of [...files, said, failures]) t.notOk(text.includes(secret), secret)

    const again = await startTestHost(env)
    const read = await again.send('/user/v1/users', { headers })
    t.match(read.body.data['user'], body)
    const opened = await again.send('/user/v1/crypto/decrypt', {
      body: { items: encrypted.body.data['items'] },
      headers,
    })
    t.match(opened.body.data['items'], [{ id: 'note', ok: true, value: NOTE }])
    await again.close()
  },
)
