import { rows } from '@gatewright/kernel/sql'
import { runCommand } from '@gatewright/reference-host'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright as runGatewright, jsonOf, type Ran } from '../../harness/gatewright.ts'
import { bearer, bootstrapUser, newWallet, request, spawnHost } from '../../harness/host.ts'
import { webToken } from '../harness/web-sign-in.ts'
import { PROGRAMS } from '../../harness/programs.ts'
import { temporaryFolder } from '../../harness/files.ts'

const dataDir = temporaryFolder(t)
const env = { DATA_DIR: dataDir, PORT: '0' }
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, env)
const json = async (...args: string[]): Promise<unknown> => jsonOf(await gatewright(...args, '--json'))

// `gatewright start` runs the host whose rows the other commands show.
const host = await spawnHost(dataDir, {}, [PROGRAMS.command, 'start'])
const send = (path: string, options = {}) => request(host.url, path, options)
const user = await bootstrapUser(send)
const policy = { maxAuthAmountCents: 100 }
const narrow = await send('/user/v1/keys', {
  headers: bearer(user.token),
  body: { scopes: ['cards.read'], policy },
})
const narrowId = narrow.body['userKeyId'] as string

/** A user with keys, of which one is revoked and one is changed, and with an open console. */
const wallet = newWallet()
const owner = await bootstrapUser(send, {}, undefined, wallet)
const headers = bearer(owner.token)
async function keyWithSession() {
  const { body } = await send('/user/v1/keys', { body: { scopes: ['cards.read'] }, headers })
  const key = { 'x-user-key': body['userApiKey'] as string }
  const minted = await send('/user/v1/sessions', { body: {}, headers: key })
  return {
    path: `/user/v1/keys/${String(body['userKeyId'])}`,
    sessionId: minted.body['sessionId'] as string,
  }
}
const limits = [{ operations: ['payments.*'], maxCount: 2, window: 'total' }]
const agent = await send('/user/v1/keys', {
  headers: bearer((await bootstrapUser(send)).token),
  body: {
    label: 'agent',
    scopes: ['payments.write'],
    policy: { dailySpendCapCents: 1000, maxAuthAmountCents: 5000, limits },
  },
})
const agentId = agent.body['userKeyId'] as string
const [revoked, changed, live] = [await keyWithSession(), await keyWithSession(), await keyWithSession()]
await send(revoked.path, { method: 'DELETE', headers })
await send(changed.path, { method: 'PATCH', body: { scopes: [] }, headers })
await send('/auth/console', { body: {}, headers: bearer(await webToken(send, wallet)) })
const stopped = await host.stop('SIGTERM')
const greeting = host.output()

t.test('starts a host that a signal stops', async t => {
  t.match(greeting, /listens on http[^]*Ready\./)
  t.equal(stopped, 0)
  const problem = await runGatewright(['start'], { ...env, PORT: 'x' })
  t.match(problem, { code: 1, output: /^Gatewright cannot start:\n {2}PORT must/ })
})

t.test('explain says which rule binds a payment, in 80 columns', async t => {
  const { code, output } = await gatewright('explain', agentId, 'payments.create', '--amount', '10.01')
  t.equal(code, 0)
  t.match(output, `payments.create with the key ${agentId} (agent, live)\nDenied (403 policy_blocked): `)
  t.match(output, /^ {2}blocks {2}dailySpendCapCents \(binds\): 10\.00 USD left of 10\.00 USD a day,/m)
  t.match(output, /^ {2}passes {2}limits: 2 calls left of 2 calls in total/m)
  t.same(
    output.split('\n').filter(line => line.length > 80),
    [],
  )
})

t.test('explain prints the same as JSON, at the exact amount that is left', async t => {
  const { output } = await gatewright('explain', agentId, 'payments.create', '--amount', '10.00', '--json')
  const explained = JSON.parse(output)
  t.match(explained, {
    key: { id: agentId, label: 'agent', state: 'live' },
    operation: 'payments.create',
    decision: { allowed: true },
    policyRevision: /^[\w-]{22}$/,
  })
  t.match(
    explained.rules.find((each: { rule: string }) => each.rule === 'dailySpendCapCents'),
    {
      outcome: 'passes',
      binds: true,
      requested: 1000,
      cap: { remaining: 1000, resetsAt: /T00:00:00.000Z$/ },
    },
  )
})

t.test('explain names a missing scope, a revoked key, and what is no operation of a session', async t => {
  const explain = (...args: string[]) => gatewright('explain', ...args)
  t.match((await explain(agentId, 'cards.list')).output, /^Denied \(403 insufficient_scope\): /m)
  const revokedId = revoked.path.split('/').at(-1) as string
  const ended = await explain(revokedId, 'payments.create')
  t.match(ended, { code: 0, output: /\(no label, revoked\)\nDenied \(401 unauthorized\)/ })
  for (const [args, message] of [
    [['nobody', 'payments.create'], /no key nobody/],
    [[agentId, 'payments.crate'], /payments.crate is no operation for sessions of a user key/],
    [[agentId, 'system.jwks'], /is no operation for sessions/],
    [[agentId, 'cards.list', '--amount', '1.00'], /cards.list moves no money/],
  ] as const)
    t.match(await explain(...args), { code: 1, output: message })
  t.match(await explain(agentId, 'payments.create', '--amount', '10'), {
    code: 2,
    output: /--amount must be/,
  })
})

t.test('lists and shows the keys of an account without what proves them', async t => {
  const listed = (await json('keys', 'list', user.userId)) as Record<string, unknown>[]
  t.match(listed, [
    { id: narrowId, state: 'live', scopes: ['cards.read'] },
    { state: 'live', parentId: null },
  ])
  const root = listed[1] as { id: string; accountId: string }
  const shown = (await json('keys', 'show', narrowId)) as { policies: { document: unknown }[] }
  t.match(shown, {
    id: narrowId,
    parentId: root.id,
    accountId: root.accountId,
    createdBy: { keyId: root.id },
  })
  t.ok(shown.policies.some(({ document }) => JSON.stringify(document) === JSON.stringify(policy)))
  t.match(await gatewright('keys', 'show', narrowId), { output: /^scopes +cards\.read$/m })

  await gatewright('keys', 'revoke', narrowId, '--yes')
  t.match(await gatewright('keys', 'list', root.accountId), {
    output: new RegExp(`^${narrowId} .* revoked `, 'm'),
  })
  t.match(await gatewright('keys', 'show', 'nope'), { code: 1, output: /no key nope/ })
  t.match(await gatewright('keys', 'list', 'nope'), { code: 1, output: /no user or account nope/ })
  for (const args of [
    ['keys', 'list', user.userId],
    ['keys', 'show', root.id],
    ['sessions', 'list', user.userId],
  ]) {
    const { output } = await gatewright(...args, '--json')
    for (const secret of [user.key.slice(-36), user.token.split('.')[2] as string, 'digest', 'pepper'])
      t.notMatch(output, secret)
  }
})

t.test('lists the live sessions of an account', async t => {
  const [session, ...others] = (await json('sessions', 'list', user.userId)) as { sessionId: string }[]
  t.match(session, { surface: 'user', mintedFrom: null, expiresAt: /Z$/ })
  t.same(others, [])
  await gatewright('sessions', 'revoke', session?.sessionId as string, '--yes')
  t.match(await gatewright('sessions', 'list', user.userId), { code: 0, output: /^No live sessions\.$/m })
})

t.test('lists no session whose key was revoked or changed', async t => {
  const listed = (await json('sessions', 'list', owner.userId)) as { sessionId: string }[]
  const ids = listed.map(({ sessionId }) => sessionId)
  t.ok(ids.includes(live.sessionId))
  t.notOk(ids.includes(revoked.sessionId))
  t.notOk(ids.includes(changed.sessionId))
})

t.test('lists the keys of account consoles only where they are asked for', async t => {
  const { accountId } = (await json('accounts', 'show', owner.userId)) as { accountId: string }
  const flagsOf = async (...flags: string[]): Promise<unknown[]> =>
    ((await json('keys', 'list', accountId, ...flags)) as { console: boolean }[]).map(key => key.console)
  t.same(await flagsOf(), [false, false, false, false])
  t.same(await flagsOf('--consoles'), [true])
})

t.test('shows a user account and a partner account', async t => {
  await gatewright('ledger', 'credit', user.userId, '0.70', 'gift', '--yes')
  t.match(await json('accounts', 'show', user.userId), {
    kind: 'user',
    userId: user.userId,
    partnerId: null,
    balanceCents: 70,
    moneyCents: 70,
    cards: 0,
    subscriptions: 0,
    liveKeys: 1,
    liveSessions: 0,
  })
  const { partnerId } = (await json('partner-keys', 'create', 'Acme')) as { partnerId: string }
  t.match(await json('accounts', 'show', partnerId), { kind: 'partner', name: 'Acme', users: 0, liveKeys: 1 })
  t.match(await json('keys', 'list', partnerId), [{ surface: 'partner' }])
})

t.test('finds users by their wallet, and takes a wallet wherever it takes an account', async t => {
  const all = (await json('users', 'list')) as { userId: string; accountId: string; walletAddress: string }[]
  const { accountId = '', walletAddress = '' } = all.find(({ userId }) => userId === user.userId) ?? {}
  t.match(accountId, /^acc_/)
  for (const wallet of [walletAddress, walletAddress.toLowerCase()]) {
    t.match(await json('users', 'list', '--wallet', wallet), [{ accountId, userId: user.userId }])
    t.match(await json('accounts', 'show', wallet), { accountId, kind: 'user' })
    t.match(await json('ledger', 'balance', wallet), { accountId })
  }
  const nobody = `0x${'1'.repeat(40)}`
  t.match(await gatewright('users', 'list', '--wallet', nobody), { code: 0, output: /^No such users\.$/m })
  t.match(await gatewright('accounts', 'show', nobody), { code: 1, output: /no account has signed in with/ })
  t.match(await gatewright('users', 'list', '--wallet', '0x12'), {
    code: 2,
    output: /--wallet must be 0x and 40/,
  })
})

t.test('lists users in pages, newest first, each once', async t => {
  const { db, close } = openDatabaseOf(env)
  for (const [index, createdAt] of [5, 5, 5, 7, 3].entries())
    await rows(
      db,
      `insert into gw_users (account_id, id, principal, kyc_status, created_at)
        values ($1, $2, $2, 'not_submitted', $3)`,
      [`acc_page${index}`, `usr_page${index}`, createdAt],
    )
  await close()
  const found: string[] = []
  for (;;) {
    const after = found.length === 0 ? [] : ['--after', found.at(-1) as string]
    const page = (await json('users', 'list', '--limit', '2', ...after)) as { accountId: string }[]
    found.push(...page.map(({ accountId }) => accountId))
    if (page.length < 2) break
  }
  t.same(
    found.filter(id => id.startsWith('acc_page')),
    ['acc_page3', 'acc_page2', 'acc_page1', 'acc_page0', 'acc_page4'],
  )
  t.equal(new Set(found).size, found.length)
  t.match(await gatewright('users', 'list', '--limit', '1'), {
    output: new RegExp(`There may be more: --after ${found[0]}$`, 'm'),
  })
  t.notMatch((await gatewright('users', 'list')).output, 'There may be more')
  t.match(await gatewright('users', 'list', '--after', 'acc_none'), { code: 1, output: /names no account/ })
  t.match(await gatewright('users', 'list', '--after', 'acc_none', '--wallet', `0x${'1'.repeat(40)}`), {
    code: 2,
  })
})

t.test('shows fields to a person with money and instants in words, and cuts no id', async t => {
  const { accountId } = (await json('accounts', 'show', user.userId)) as { accountId: string }
  const terminal = { width: 40, colors: false }
  const { out } = await runCommand(['accounts', 'show', user.userId], { env, ask: undefined, terminal })
  t.match(out, /^balance +0\.70 USD$/m)
  t.match(out, new RegExp(`^accountId +${accountId}$`, 'm'))
  t.match(out, /^createdAt +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/m)
  t.match((await gatewright('accounts', 'show', user.userId)).output, /^balanceCents +70$/m)
})
