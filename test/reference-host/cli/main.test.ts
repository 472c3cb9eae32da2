import { runCommand } from '@gatewright/reference-host'
import t from 'tap'
import { gatewright as runGatewright, gatewrightProcess, jsonOf, type Ran } from '../../harness/gatewright.ts'
import { bootstrapUser, request, startTestHost } from '../../harness/host.ts'
import { temporaryFolder } from '../../harness/files.ts'

const dataDir = temporaryFolder(t)
const env = { DATA_DIR: dataDir, PORT: '0' }
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, env)
const json = async (...args: string[]): Promise<unknown> => jsonOf(await gatewright(...args, '--json'))

t.test('as a process, prints the result and exits with 0, or the problem and exits with 2', async t => {
  const made = await gatewrightProcess(['partner-keys', 'create', 'Process', '--json'], env)
  t.match(jsonOf(made), { key: /^gw_sandbox_partner_/ })
  t.match(await gatewrightProcess(['partner-keys', 'list'], env), {
    code: 0,
    output: /^PARTNER .*\nProcess /,
  })
  const unasked = await gatewrightProcess(['keys', 'revoke', 'nope'], env)
  t.match(unasked, { code: 2, output: /needs --yes without a terminal/ })
})

t.test(
  'asks what it is about to do, after it has checked the arguments, and does nothing after a no',
  async t => {
    const made = await gatewright('partner-keys', 'create', 'Asked', '--json')
    const { keyId, partnerId } = jsonOf<{ keyId: string; partnerId: string }>(made)
    const questions: string[] = []
    const run = (response: string, ...args: string[]) =>
      runCommand(args, {
        env,
        ask: async question => {
          questions.push(question)
          return response
        },
      })
    t.same(await run('', 'keys', 'revoke', keyId), { code: 1, out: '', problem: 'Canceled.' })
    t.match(questions, [
      new RegExp(
        `^Revoke ${keyId} of ${partnerId}\\? It has sessions of its users and 0 keys below it\\. Never used\\.\nWhoever uses [^]*Continue\\? \\[y/N\\] $`,
      ),
    ])
    t.match(await run('yes', 'keys', 'revoke', 'nope'), { code: 1, problem: /no key nope/ })
    t.match(await run('yes', 'kyc', 'decide', 'acc_1', 'approvd'), {
      code: 2,
      problem: /STATUS must be one of/,
    })
    t.match(await run('yes', 'ledger', 'credit', 'acc_1', '1.5', 'r'), { code: 2, problem: /AMOUNT must be/ })
    t.equal(questions.length, 1, 'nothing else was asked')
    t.match(await run('yes', 'keys', 'revoke', keyId), { code: 0, out: /is revoked/ })
  },
)

t.test(
  'takes the whole text of a key for its id, also from the standard input, and repeats no secret',
  async t => {
    const made = (await json('partner-keys', 'create', 'Pasted')) as { key: string; keyId: string }
    const secret = made.key.split('_')[4] as string
    const run = (args: readonly string[], text = '') =>
      runCommand(args, { env, ask: undefined, input: async () => text })
    const shown = { code: 0, out: new RegExp(made.keyId) }
    const tries = [
      await run(['keys', 'show', made.key]),
      await run(['keys', 'show', '-'], `${made.key}\n`),
      await run(['keys', 'show', '-'], ` ${made.keyId} `),
      await run(['keys', 'revoke', '-', '--yes'], made.key),
    ]
    for (const result of tries) t.match(result, shown)
    const wrong = await run(['keys', 'show', '-'], `key: ${made.key}`)
    t.match(wrong, { code: 2, problem: /neither the text of a key nor its id of 16 characters/ })
    t.match(await run(['keys', 'show', '-']), { code: 2 }, 'nothing was given')
    const unknown = await run(['keys', 'show', made.key.replace(made.keyId, 'A'.repeat(16))])
    t.match(unknown, { code: 1, problem: /no key A{16}/ })
    for (const { out, problem } of [...tries, wrong, unknown]) t.notOk(`${out}${problem}`.includes(secret))
  },
)

t.test('prints its help, and explains invalid arguments', async t => {
  const help = await gatewright('--help')
  t.equal(help.code, 0)
  for (const command of [
    'create, list, validate, revoke, rotate',
    'list, rotate, revoke',
    'operations',
    '--json',
  ]) {
    t.ok(help.output.includes(command), command)
  }
  t.match(await gatewright('partner-keys', 'fly'), { code: 2, output: /unknown command "partner-keys fly"/ })
  t.match(await gatewright('partner-keys', 'create'), { code: 2, output: /takes NAME/ })
  t.match(await gatewright('operations', '--wrong'), { code: 2, output: /--wrong/ })
  t.match(await gatewright('partner-keys', 'create', 'Acme', '--scopes', 'x.y'), {
    code: 2,
    output: /unknown scope/,
  })
  const spoofed = await gatewright('partner-keys', 'create', 'Acme\u001b[2K')
  t.match(spoofed, {
    code: 2,
    output: /NAME must be in normal form C \(NFC\) and have no control characters/,
  })
})

t.test('shows characters that control a terminal as escapes, in tables, errors and JSON', async t => {
  const hostile = 'Ac\u202eme'
  await json('partner-keys', 'create', hostile)
  const listed = await gatewright('partner-keys', 'list')
  t.match(listed.output, 'Ac\\u202eme ')
  t.notMatch(listed.output, '\u202e')
  const raw = await gatewright('partner-keys', 'list', '--json')
  t.notMatch(raw.output, '\u202e')
  t.ok(jsonOf<{ name: string }[]>(raw).some(({ name }) => name === hostile))
  const refused = await gatewright('partner-keys', 'create', 'Acme', '--scopes', 'x\u009b31m')
  t.match(refused, { code: 2, output: 'unknown scope "x\\u009b31m"' })
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

  const host = await startTestHost(env)
  const resolve = () =>
    request(host.url, '/partner/v1/users/resolve', {
      body: { userId: 'ann' },
      headers: { 'x-partner-key': made['key'] as string },
    })
  t.equal((await resolve()).status, 200)
  t.match(await gatewright('partner-keys', 'list'), {
    code: 0,
    output: new RegExp(`Acme +${keyId}`),
  })
  await request(host.url, '/consumer/v1/sessions', { body: {} })
  await host.close()

  t.match(await gatewright('aliases', 'report'), { code: 0, output: /\/consumer\/v1/ })
  t.match(await gatewright('aliases', 'due'), { code: 0, output: /No legacy name is past its sunset/ })
  t.match(await gatewright('partner-keys', 'list'), { output: new RegExp(`Acme +${keyId} +no +live`) })
  await gatewright('partner-keys', 'validate', keyId)
  t.match(await gatewright('partner-keys', 'revoke', keyId), { code: 2, output: /needs --yes/ })
  t.match(await gatewright('partner-keys', 'revoke', keyId, '--yes'), { code: 0, output: /is revoked/ })
  t.match(await gatewright('partner-keys', 'list'), { output: new RegExp(`${keyId} +yes +revoked`) })
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
  const host = await startTestHost(env)
  const send = (path: string, options = {}) => request(host.url, path, options)
  const user = await bootstrapUser(send)
  const headers = { authorization: `Bearer ${user.token}` }
  const sessions = (await send('/user/v1/sessions', { headers })).body['sessions'] as { sessionId: string }[]
  const sessionId = sessions[0]?.sessionId as string
  const made = await send('/user/v1/keys', { headers, body: {} })
  const claims = JSON.parse(Buffer.from(user.token.split('.')[1] as string, 'base64url').toString()) as {
    sub: string
  }
  await host.close()

  t.match(await gatewright('audit', 'list'), { code: 2, output: /needs --account/ })
  const before = (await json('audit', 'list', '--account', claims.sub)) as Record<string, unknown>[]
  t.equal(before.length, 3)
  // Two of them may be of one millisecond.
  const entryBy = (by: string) => before.find(entry => entry['by'] === by)
  t.match(entryBy('session'), { sessionId, action: 'key.create', target: made.body['userKeyId'] })
  t.match(entryBy('key'), { action: 'session.create', target: sessionId })
  t.match(entryBy('wallet'), { action: 'key.create', keyId: null })
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
    [['gone', '--keys', '--account', 'acc_typo'], /no user or account acc_typo/],
    [['gone', '--keys', '--account', claims.sub], /^nothing was ended: .* and no live key that it created$/m],
    [[sessionId, '--keys'], /^nothing was ended/],
  ] as const)
    t.match(await revoke(...args), { code: 1, output })
  t.match(await revoke('gone', '--account', claims.sub), { code: 2, output: /--account is only for --keys/ })
  const root = entryBy('wallet')?.['target'] as string
  t.match(await json('keys', 'show', root), { state: 'live' })
})
