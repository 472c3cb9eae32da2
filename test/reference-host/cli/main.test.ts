import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@gatewright/reference-host/internal'
import t from 'tap'
import { gatewright as runGatewright, gatewrightProcess, type Ran } from '../../harness/gatewright.ts'
import { bootstrapUser, request, spawnHost } from '../../harness/host.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-cli-'))
t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
const env = { DATA_DIR: dataDir, PORT: '0' }
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, env)
const json = async (...args: string[]): Promise<unknown> => {
  const { code, output } = await gatewright(...args, '--json')
  if (code !== 0) throw new Error(output)
  return JSON.parse(output)
}

t.test('as a process, prints the result and exits with 0, or the problem and exits with 1', async t => {
  const made = await gatewrightProcess(['partner-keys', 'create', 'Process', '--json'], env)
  t.equal(made.code, 0)
  t.match(JSON.parse(made.output), { key: /^gw_sandbox_partner_/ })
  t.match(await gatewrightProcess(['partner-keys', 'list'], env), {
    code: 0,
    output: /^PARTNER .*\nProcess /,
  })
  const unasked = await gatewrightProcess(['keys', 'revoke', 'nope'], env)
  t.match(unasked, { code: 1, output: /needs --yes without a terminal/ })
})

t.test('does nothing when the operator says no', async t => {
  const args = ['keys', 'revoke', 'nope']
  const questions: string[] = []
  const responding = (response: string) => ({
    env,
    ask: async (question: string) => {
      questions.push(question)
      return response
    },
  })
  t.same(await runCommand(args, responding('')), { code: 1, out: '', problem: 'Nothing was done.' })
  t.match(await runCommand(args, responding('yes')), { code: 1, problem: /no such key/ })
  t.match(questions, [/Continue\? \[y\/N\] $/, /Continue/])
})

t.test('prints its help, and explains invalid arguments', async t => {
  const help = await gatewright('--help')
  t.equal(help.code, 0)
  for (const command of [
    'partner-keys create NAME',
    'signing-keys rotate',
    'operations',
    '--json',
    '--yes',
  ]) {
    t.ok(help.output.includes(command), command)
  }
  t.match(await gatewright('partner-keys', 'fly'), { code: 1, output: /unknown command "partner-keys fly"/ })
  t.match(await gatewright('partner-keys', 'create'), { code: 1, output: /takes NAME/ })
  t.match(await gatewright('operations', '--wrong'), { code: 1, output: /--wrong/ })
  t.match(await gatewright('partner-keys', 'create', 'Acme', '--scopes', 'x.y'), {
    code: 1,
    output: /unknown scope/,
  })
  const spoofed = await gatewright('partner-keys', 'create', 'Acme\u001b[2K')
  t.match(spoofed, {
    code: 1,
    output: /NAME must be in normal form C \(NFC\) and have no control characters/,
  })
})

t.test('prints the operation matrix', async t => {
  const { output } = await gatewright('operations')
  t.match(
    output,
    /subscriptions\.payin +POST +\/user\/v1\/subscriptions\/payin +session +subscriptions\.write +yes/,
  )
  const data = (await json('operations')) as { id: string }[]
  t.ok(data.some(({ id }) => id === 'auth.bootstrap'))
})

t.test('creates a partner key that the host accepts, and asks before it revokes one', async t => {
  const made = (await json('partner-keys', 'create', 'Acme', '--scopes', 'cards.read')) as Record<
    string,
    string
  >
  t.match(made, { key: /^gw_sandbox_partner_/, keyId: String, scopes: ['cards.read'] })
  const keyId = made['keyId'] as string

  const host = await spawnHost(dataDir)
  const resolve = () =>
    request(host.url, '/partner/v1/users/resolve', {
      body: { userId: 'ann' },
      headers: { 'x-partner-key': made['key'] as string },
    })
  t.equal((await resolve()).status, 200)
  t.match(await gatewright('partner-keys', 'list'), {
    code: 1,
    output: /DATA_DIR .* is in use by another host/,
  })
  await request(host.url, '/consumer/v1/sessions', { body: {} })
  await host.stop('SIGTERM')

  t.match(await gatewright('aliases', 'report'), { code: 0, output: /\/consumer\/v1/ })
  t.match(await gatewright('aliases', 'due'), { code: 0, output: /No legacy name is past its sunset/ })
  t.match(await gatewright('partner-keys', 'list'), { output: new RegExp(`Acme +${keyId} +\\S+ +no +live`) })
  await gatewright('partner-keys', 'validate', keyId)
  t.match(await gatewright('partner-keys', 'revoke', keyId), { code: 1, output: /needs --yes/ })
  t.match(await gatewright('partner-keys', 'revoke', keyId, '--yes'), { code: 0, output: /is revoked/ })
  t.match(await gatewright('partner-keys', 'list'), { output: new RegExp(`${keyId} +\\S+ +yes +revoked`) })
  t.match(await gatewright('keys', 'revoke', 'nope', '--yes'), { code: 1 })
})

t.test('rotates a partner key, and the signing key', async t => {
  const made = (await json('partner-keys', 'create', 'Beta')) as Record<string, string>
  const successor = await json('partner-keys', 'rotate', made['keyId'] as string, '--overlap', '60')
  t.match(successor, { key: /^gw_sandbox_partner_/ })
  t.match(await json('signing-keys', 'rotate'), { announced: true })
  const keys = (await json('signing-keys', 'list')) as { kid: string }[]
  t.ok(keys.length >= 1)
  t.match(await json('signing-keys', 'revoke', keys[0]?.kid as string, '--yes'), { dropped: true })
  t.match(await gatewright('signing-keys', 'revoke', 'nope', '--yes'), {
    code: 1,
    output: /no signing key nope/,
  })
  t.match(await gatewright('migrate'), { code: 0, output: /up to date/ })
})

t.test('shows who changed what, and revokes what a session created', async t => {
  const host = await spawnHost(dataDir)
  const send = (path: string, options = {}) => request(host.url, path, options)
  const user = await bootstrapUser(send)
  const headers = { authorization: `Bearer ${user.token}` }
  const sessions = (await send('/user/v1/sessions', { headers })).body['sessions'] as { sessionId: string }[]
  const sessionId = sessions[0]?.sessionId as string
  const made = await send('/user/v1/keys', { headers, body: {} })
  const claims = JSON.parse(Buffer.from(user.token.split('.')[1] as string, 'base64url').toString()) as {
    sub: string
  }
  await host.stop('SIGTERM')

  t.match(await gatewright('audit', 'list'), { code: 1, output: /needs --account/ })
  const before = (await json('audit', 'list', '--account', claims.sub)) as Record<string, unknown>[]
  t.match(before, [
    { by: 'session', sessionId, action: 'key.create', target: made.body['userKeyId'] },
    { by: 'key', action: 'session.create', target: sessionId },
    { by: 'wallet', action: 'key.create', keyId: null },
  ])
  const ended = await json('sessions', 'revoke', sessionId, '--keys', '--yes')
  t.match(ended, { sessionId, ended: 1, revokedKeys: 1 })
  t.match(await json('audit', 'list', '--account', claims.sub, '--limit', '2'), [
    { by: 'operator' },
    { by: 'operator' },
  ])
  t.match(await gatewright('sessions', 'revoke', 'gone', '--keys', '--yes'), { code: 1, output: /--account/ })
  const revoke = (...args: string[]): Promise<Ran> => gatewright('sessions', 'revoke', ...args, '--yes')
  for (const [args, output] of [
    [['gone'], /^nothing was ended: no live session gone$/m],
    [[sessionId], /^nothing was ended: no live session/],
    [['gone', '--account', claims.sub], /--account is only for --keys/],
    [['gone', '--keys', '--account', 'acc_typo'], /no user or account acc_typo/],
    [['gone', '--keys', '--account', claims.sub], /^nothing was ended: .* and no live key that it created$/m],
    [[sessionId, '--keys'], /^nothing was ended/],
  ] as const)
    t.match(await revoke(...args), { code: 1, output })
  const root = before[2]?.['target'] as string
  t.match(await json('keys', 'show', root), { state: 'live' })
})
