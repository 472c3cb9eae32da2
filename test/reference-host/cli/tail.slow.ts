// The command that prints requests until it is ended, in a process of its own.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { bearer, bootstrapUser, openTestHost, sessionOf, type WalletUser } from '../../harness/host.ts'
import { temporaryFolder } from '../../harness/files.ts'
import { PROGRAMS } from '../../harness/programs.ts'
import { cuttingProxy } from './cutting-proxy.ts'

const folder = temporaryFolder(t)
const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const { send } = host

/** A key of a new user, and what makes a folder in which the command is logged in with it at an address. */
async function made(): Promise<{ user: WalletUser; keyId: string; key: string; login(at: string): string }> {
  const user = await bootstrapUser(send)
  const { body } = await send('/user/v1/keys', { body: { label: 'tail' }, headers: bearer(user.token) })
  const [keyId, key] = [body['userKeyId'] as string, body['userApiKey'] as string]
  const login = (at: string): string => {
    const home = mkdtempSync(join(folder, 'tail-'))
    mkdirSync(join(home, 'gatewright'))
    writeFileSync(join(home, 'gatewright', 'login.json'), JSON.stringify({ host: at, keyId, key }))
    return home
  }
  return { user, keyId, key, login }
}

function startTail(t: Test, home: string, ...flags: string[]): ChildProcessByStdio<null, Readable, Readable> {
  const tail = spawn(process.execPath, [PROGRAMS.command, 'requests', 'tail', ...flags], {
    env: { ...process.env, XDG_CONFIG_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => tail.kill())
  return tail
}

t.test('prints every request once, however many come between two polls', async t => {
  const { key, login } = await made()
  const tail = startTail(t, login(host.url), '--json')
  const printed: string[] = []
  const lines = createInterface({ input: tail.stdout })
  lines.on('line', line => printed.push((JSON.parse(line) as { id: string }).id))
  const printedAll = async (ids: readonly string[]): Promise<void> => {
    while (!ids.every(id => printed.includes(id))) await once(lines, 'line')
  }
  await once(lines, 'line')
  const headers = bearer(await sessionOf(send, key))
  const refused = async (): Promise<string> =>
    (await send('/user/v1/payments', { body: {}, headers })).headers.get('x-request-id') as string
  const sent = await Promise.all(Array.from({ length: 110 }, refused))
  await printedAll(sent)
  // One more, so that the poll after theirs is seen too.
  await printedAll([await refused()])
  t.same(
    sent.filter(id => printed.filter(each => each === id).length !== 1),
    [],
  )
})

t.test('goes on printing requests after a host was away, until its key is revoked', async t => {
  const proxy = await cuttingProxy(host.url)
  t.teardown(() => proxy.close())
  const { user, keyId, login } = await made()
  proxy.isDown = true
  const tail = startTail(t, login(proxy.url))
  const exited = once(tail, 'exit')
  const notes = createInterface({ input: tail.stderr })[Symbol.asyncIterator]()
  const note = async (): Promise<string> => (await notes.next()).value as string
  t.match(await note(), /does not answer: .*\. Trying again until it works\.$/)
  proxy.isDown = false
  t.match(await note(), / answers again\.$/)
  await send(`/user/v1/keys/${keyId}`, { method: 'DELETE', headers: bearer(user.token) })
  t.match(await note(), /session/i, 'its session ended with the key')
  t.match(await note(), /key/i)
  t.same(await exited, [1, null])
})
