import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { runNode } from '../harness/node.ts'
import { bearer, bootstrapUser, request, spawnHost } from '../harness/host.ts'

const run = promisify(execFile)
const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-start-'))
t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))

/** The lines a host printed for pasting, run by a shell as they stand. */
async function paste(output: string, env: Record<string, string> = {}): Promise<string> {
  const lines = output
    .split('\n')
    .filter(line => line.startsWith('  '))
    .join('\n')
  const { stdout } = await run('sh', ['-c', lines], { env: { PATH: process.env['PATH'], ...env } })
  return stdout
}

t.test('prints a partner key once, and curl lines that work as pasted on every start', async t => {
  const first = await spawnHost(dataDir)
  const key = /gw_sandbox_partner_\w+/.exec(first.output())?.[0] as string
  t.ok(key)
  t.match(await paste(first.output()), /"userId":"user-1"[^]*"cardId":/)

  const second = spawnHost(dataDir)
  await t.rejects(second, /DATA_DIR .* is in use by another host/, 'one process per data folder')
  t.equal(await first.stop('SIGTERM'), 0)

  const later = await spawnHost(dataDir)
  t.notMatch(later.output(), key)
  t.match(await paste(later.output(), { PARTNER_KEY: key }), /"userId":"user-1"[^]*"cardId":/)
  t.equal(await later.stop('SIGTERM'), 0)
})

t.test('lists every configuration problem and ends with 1', async t => {
  await t.rejects(
    spawnHost(dataDir, { PORT: 'x', GATEWRIGHT_ENV: 'prod' }),
    /exit 1[^]*PORT must[^]*GATEWRIGHT_ENV must/,
  )
})

t.test('says which port is taken', async t => {
  const one = await spawnHost(dataDir)
  const other = mkdtempSync(join(tmpdir(), 'gatewright-start-'))
  t.teardown(() => rmSync(other, { recursive: true, force: true }))
  const { port } = new URL(one.url)
  await t.rejects(spawnHost(other, { PORT: port }), /exit 1[^]*PORT \d+ is taken/)
  await one.stop('SIGTERM')
})

t.test('prints no key, token or signature, whatever clients do', async t => {
  const host = await spawnHost(dataDir)
  const send: typeof bootstrapUser extends (send: infer S, ...rest: never[]) => unknown ? S : never = (
    path,
    options,
  ) => request(host.url, path, options)
  const user = await bootstrapUser(send)
  await send('/user/v1/subscriptions/payin', { body: '{"amountCents":', headers: bearer(user.token) })
  await send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': `${user.key}x` } })
  await send(`/partner/v1/cards?token=${user.token}`, { headers: bearer(user.token) })
  await host.stop('SIGTERM')
  for (const secret of [user.key, user.key.slice(-36, -6), user.token, user.token.split('.')[2] as string]) {
    t.notOk(host.output().includes(secret))
  }
  t.notMatch(host.output(), /gw_sandbox_partner_/)
})

t.test('runs the demo against a running host', async t => {
  const host = await spawnHost(dataDir)
  const { output } = await runNode(['build/examples/wallet-client/client.js', host.url])
  t.match(output, /Idempotency-Replayed: true[^]*Deprecation: @\d+[^]*insufficient_scope[^]*Done\./)
  t.notMatch(output, /gw_sandbox_user_\w{16}_\w{36}/)
  await host.stop('SIGTERM')
})
