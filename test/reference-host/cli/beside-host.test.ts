// Commands on an embedded database while a host, or another command, has its folder.
import { statSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { runCommand } from '@gatewright/reference-host'
import t from 'tap'
import { kitCommands } from '#packages/host/dist/composition/kit-commands.js'
import { gatewright, gatewrightProcess } from '../../harness/gatewright.ts'
import { bootstrapUser, request, spawnHost } from '../../harness/host.ts'
import { temporaryFolder } from '../../harness/files.ts'

const dataDir = temporaryFolder(t)
const env = { DATA_DIR: dataDir, PORT: '0' }
const socketPath = join(dataDir, 'host.sock')

/** Sends bytes to the socket of the host, and returns what it responds until it ends the connection. */
function sendBytes(bytes: string | Buffer): Promise<string> {
  return new Promise(resolve => {
    let all = ''
    const socket = createConnection(socketPath, () => socket.end(bytes))
    socket.on('data', chunk => (all += chunk.toString()))
    socket.on('error', () => {})
    socket.once('close', () => resolve(all))
  })
}

t.test(
  'commands run in the host that has the folder, and in their own process once it was killed',
  async t => {
    const host = await spawnHost(dataDir)
    const { key } = await bootstrapUser((path, options) => request(host.url, path, options))
    const keyId = key.split('_')[3] as string
    const mint = () => request(host.url, '/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
    t.equal((await mint()).status, 200)
    t.equal(statSync(socketPath).mode & 0o777, 0o600)

    t.match(await gatewright(['keys', 'revoke', keyId], env), { code: 2, output: /needs --yes/ })
    const questions: string[] = []
    const refused = await runCommand(['keys', 'revoke', keyId], {
      env,
      ask: async question => {
        questions.push(question)
        return 'n'
      },
    })
    t.match([refused.code, questions], [1, [new RegExp(keyId)]])
    t.equal((await mint()).status, 200, 'a no changes nothing')
    const [revoked, listed] = await Promise.all([
      gatewrightProcess(['keys', 'revoke', keyId, '--yes'], env),
      gatewright(['partner-keys', 'list'], env),
    ])
    t.match([revoked, listed], [{ code: 0, output: /is revoked/ }, { code: 0 }], 'two at once')
    t.equal((await mint()).status, 401, 'the next use of the key is denied')
    t.match(await gatewright(['keys', 'show', 'none'], env), { code: 1, output: /no key none/ })
    t.match(await gatewright(['ledger', 'check'], env), { code: 1, output: /stop the host first/ })

    for (const bytes of [
      '',
      '\n',
      'GET / HTTP/1.1\r\n\r\n',
      '{"name":7}\n',
      '[]\n',
      'null\n',
      '{"name":"__proto__","positional":[],"options":{},"flags":[],"yes":true}\n',
      '{"name":"keys list","positional":[],"options":{},"flags":[],"yes":true}\n',
      '{"name":"keys list","positional":["a"],"options":{"x":"y"},"flags":[],"yes":true}\n',
      '{"name":"keys list","positional":["a"],"options":{},"flags":["constructor"],"yes":true}\n',
      '{"name":"keys revoke","positional":["a"],"options":{"cards":"x"},"flags":[],"yes":true}\n',
      Buffer.alloc(100_000, 'x'),
      Buffer.from([0, 255, 254, 10]),
    ]) {
      const response = await sendBytes(bytes)
      t.ok(response === '' || 'problem' in (JSON.parse(response) as object), response)
    }
    for (const { name, takes } of kitCommands) {
      const positional = takes.filter(each => !each.startsWith('[')).map(() => 'none')
      const sent = { name, positional, options: {}, flags: [], yes: false }
      t.notMatch(await sendBytes(`${JSON.stringify(sent)}\n`), /does not know this command/, name)
    }
    t.match(await gatewright(['jobs', 'list'], env), { code: 0, output: /No jobs/ }, 'of every host')
    t.match(await gatewright(['partner-keys', 'list'], env), { code: 0 }, 'the host still takes commands')

    await host.stop('SIGKILL')
    t.match(await gatewright(['keys', 'show', keyId], env), { code: 0, output: /revoked/ })
    const both = await Promise.all([1, 2].map(() => gatewrightProcess(['partner-keys', 'list'], env)))
    t.match(both, [{ code: 0 }, { code: 0 }], 'one waits for the other')
    const again = await spawnHost(dataDir)
    t.match(await gatewright(['keys', 'show', keyId], env), { code: 0 }, 'a socket that was left is replaced')
    t.equal(await again.stop('SIGTERM'), 0)
  },
)
