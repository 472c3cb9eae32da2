// What `gatewright restored` makes unusable, and what it finds at providers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rows } from '@gatewright/kernel/sql'
import { runCommand, type Providers } from '@gatewright/reference-host'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { jsonOf, type Ran } from '../../harness/gatewright.ts'
import { bearer, bootstrapUser, newWallet, signedBootstrap, startTestHost } from '../../harness/host.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import * as internals from '../../harness/internals.ts'
import { PROGRAMS } from '../../harness/programs.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-restored-'))
const { env, drop } = await hostStoresEnv('postgres')
const { db, close } = openDatabaseOf(env)
const host = await startTestHost(env)
t.teardown(async () => {
  await host.close()
  await close()
  await drop()
  rmSync(dataDir, { recursive: true, force: true })
})
const { send, partnerKey } = host

async function gatewright(args: readonly string[], providers: Providers = {}): Promise<Ran> {
  const { code, out, problem } = await runCommand(args, { env, ask: undefined, providers })
  return { code, output: `${out}${problem}\n` }
}

const restored = (since: number, ...more: string[]): Promise<Ran> =>
  gatewright(['restored', '--since', new Date(since).toISOString(), '--yes', ...more])
const ready = async (): Promise<unknown> => {
  // A result of readiness is shared for a second.
  const asked = Date.now()
  while (Date.now() < asked + 1000) await new Promise(setImmediate)
  return (await send('/readyz')).status
}
const open = (key: string) => send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
const restores = async (): Promise<number> => (await rows(db, 'select 1 as one from gw_restores')).length
const newestSigningKey = async (): Promise<unknown> =>
  jsonOf<{ kid: string }[]>(await gatewright(['signing-keys', 'list', '--json']))[0]?.kid
const list = (token: string) => send('/user/v1/keys', { headers: bearer(token) })

t.test('explains wrong arguments, and a time after which the database has nothing', async t => {
  t.match(await gatewright(['restored', '--yes']), { code: 2, output: /restored needs --since/ })
  t.match(await gatewright(['restored', '--since', 'now', '--yes']), { code: 2, output: /--since must be/ })
  t.match(await restored(Date.now() + 60_000), { code: 1, output: /must not be in the future/ })
  const since = ['--since', new Date().toISOString()]
  t.match(await gatewright(['restored', ...since]), { code: 2, output: /needs --yes.*Ends all sessions/s })
  t.match(await restored(Date.now(), '--changed', '/none'), { code: 1, output: /--changed: ENOENT/ })
  await send('/readyz')
  await rows(db, 'update gw_heartbeats set at = at - 3600000')
  t.match(await restored(Date.now()), { code: 1, output: /last heartbeat .* is of 20.*or an earlier one/ })
  await rows(db, 'update gw_heartbeats set at = at + 3600000')
  t.same(await rows(db, 'select * from gw_restores'), [], 'nothing was changed')
})

t.test('ends sessions, holds keys, and denies statements that were signed before', async t => {
  const user = await bootstrapUser(send)
  const child = await send('/user/v1/keys', { body: {}, headers: bearer(user.token) })
  const wallet = newWallet()
  const signed = await signedBootstrap(wallet)
  const [oldKid] = (await send('/.well-known/jwks.json')).body['keys'] as { kid: string }[]

  const lanes = 'select position from gw_event_lanes order by lane'
  const before = (await rows(db, lanes)).map(row => Number(row['position']))
  const { code, output } = await restored(Date.now() - 1000)
  t.equal(code, 0)
  const after = (await rows(db, lanes)).map(row => Number(row['position']))
  t.equal(after.length, 16)
  t.ok(
    after.every((position, lane) => position >= (before[lane] ?? 0) + 1_000_000_000),
    'no cursor of lost events hides new ones',
  )
  t.match(output, /^Sessions ended: 1\. Keys held: 3\. A new signing key signs\.$/m)
  t.match(output, /No differences.*last npx gatewright history accept/s)
  t.equal(await ready(), 503)
  t.match(await list(user.token), { status: 401 })
  const held = { status: 403, body: { error: 'key_held', message: /may have been revoked/ } }
  t.match(await open(user.key), held)
  t.match(await open(child.body['userApiKey'] as string), held)
  t.match(
    await send('/partner/v1/users/resolve', {
      body: { userId: 'u' },
      headers: { 'x-partner-key': partnerKey },
    }),
    held,
  )
  t.match(await send('/user/v1/bootstrap', { body: signed }), { status: 401 })
  const signingKeys = jsonOf<object[]>(await gatewright(['signing-keys', 'list', '--json']))
  t.equal(signingKeys.length, 1)
  t.notMatch(signingKeys, [{ kid: oldKid?.kid }])

  t.match(await send('/user/v1/bootstrap', { body: await signedBootstrap(wallet) }), { status: 401 })
  await rows(db, 'update gw_restores set restored_at = restored_at - 60000')
  t.match(await send('/user/v1/bootstrap', { body: await signedBootstrap(wallet) }), { status: 200 })

  t.match(await gatewright(['history', 'accept', '--yes']), { code: 0, output: /^Accepted: 1\./ })
  t.equal(await ready(), 200)
  const keys = jsonOf<{ keyId: string; accountId: string }[]>(await gatewright(['keys', 'held', '--json']))
  t.equal(keys.length, 3)
  const ofUser = keys.find(({ accountId }) => accountId.startsWith('acc_'))
  const states = jsonOf(await gatewright(['keys', 'list', String(ofUser?.accountId), '--json']))
  t.match(states, [{ state: 'held' }, { state: 'held' }])
  t.match(await gatewright(['partner-keys', 'list']), { output: / held$/m })
  t.match(await gatewright(['keys', 'release', '--yes']), { code: 2, output: /KEY_OR_ACCOUNT, or --all/ })
  t.match(await gatewright(['keys', 'release', 'none', '--yes']), { code: 1, output: /no held key none/ })
  t.match(await gatewright(['keys', 'release', String(ofUser?.accountId), '--yes']), {
    code: 0,
    output: /^Released: 2\./,
  })
  t.match(await open(user.key), { status: 200 })
  t.match(await gatewright(['keys', 'release', '--all', '--yes']), { code: 0, output: /^Released: 1\./ })
  const actions = jsonOf<object[]>(await gatewright(['audit', 'operator', '--json']))
  t.match(actions, [
    { command: 'keys release', detail: 'released 1 held keys' },
    { command: 'keys release', detail: /^released 2 held keys of acc_/ },
    { command: 'restored', detail: /^restored to 20\S+; held 3 of 3 keys$/ },
  ])
})

t.test('holds the keys of named accounts only, also when it runs again', async t => {
  const [ann, bob] = [
    await bootstrapUser(send, {}, Date.now() + 59_000),
    await bootstrapUser(send, {}, Date.now() + 59_000),
  ]
  const file = join(dataDir, 'changed')
  writeFileSync(file, ` ${ann.userId.replace('usr_', 'acc_')} \n\n`)
  for (const expected of [/Keys held: 1\./, /Keys held: 1\./])
    t.match(await restored(Date.now() - 1000, '--changed', file), { code: 0, output: expected })
  t.match(await open(ann.key), { status: 403 })
  t.match(await open(bob.key), { status: 200 })
  await gatewright(['keys', 'release', '--all', '--yes'])
  await gatewright(['history', 'accept', '--yes'])
})

t.test('killed half-way, it has denied what it must, and completes when it runs again', async t => {
  await rows(db, 'update gw_restores set restored_at = restored_at - 120000')
  const user = await bootstrapUser(send)
  const since = new Date(Date.now() - 1000).toISOString()
  const before = await restores()
  await db.transaction(async tx => {
    // Ending the sessions waits for these rows.
    await rows(tx, 'select id from gw_sessions for update')
    const killed = spawn(process.execPath, [PROGRAMS.command, 'restored', '--since', since, '--yes'], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: 'ignore',
    })
    const signingKey = await newestSigningKey()
    while ((await restores()) === before || (await newestSigningKey()) === signingKey)
      await new Promise(resolve => setTimeout(resolve, 20))
    killed.kill('SIGKILL')
    await once(killed, 'exit')
  })
  t.equal(await ready(), 503, 'no host serves before an operator has looked')
  t.match(await open(user.key), { status: 403, body: { error: 'key_held' } })
  t.match(await gatewright(['restored', '--since', since, '--yes']), {
    code: 0,
    output: /^Sessions ended: [1-9]\d*\./,
  })
  t.match(await list(user.token), { status: 401 })
  await gatewright(['keys', 'release', '--all', '--yes'])
  await gatewright(['history', 'accept', '--yes'])
  t.equal(await ready(), 200)
})

t.test('asks the providers, and names what the database has lost', async t => {
  const sandbox = internals.PORTS.withdrawals.sandbox({ db, clock: { now: () => Date.now() } })
  const deposits = internals.PORTS.deposits.sandbox({ db, clock: { now: () => Date.now() } })
  const asked: unknown[] = []
  const report = { reason: null, txHash: null, paidCents: null, relay: null }
  const pages = [
    [
      { ...report, id: 'wd_lost', status: 'completed', payoutCents: 12_345 },
      { ...report, id: 'wd_failed', status: 'failed', payoutCents: 5 },
    ],
    [{ ...report, id: 'wd_sent', status: 'ready', payoutCents: 100 }],
  ]
  const providers = {
    withdrawals: {
      ...sandbox,
      name: 'payer',
      async changedSince(since: number, after: string | null) {
        asked.push([since, after])
        return after === null ? { changes: pages[0], next: 'two' } : { changes: pages[1], next: null }
      },
    },
    deposits: { ...deposits, name: 'taker', changedSince: async () => ({ changes: [{}], next: null }) },
  } as unknown as Providers
  const since = Date.now() - 1000
  const { output } = await gatewright(
    ['restored', '--since', new Date(since).toISOString(), '--yes'],
    providers,
  )
  t.same(asked, [
    [since - 300_000, null],
    [since - 300_000, 'two'],
  ])
  t.match(output, /^withdrawals: 3 of provider payer compared, 0 brought up to date\.$/m)
  t.match(output, /^Differences, which a person must book or decide \(3\):$/m)
  t.match(
    output,
    /withdrawal wd_lost: provider payer pays out 123\.45 USD \(completed\), and this database does/,
  )
  t.match(output, /withdrawal wd_sent: provider payer pays out 1\.00 USD \(ready\)/)
  t.match(
    output,
    /deposits: provider taker sent an invalid reply to changedSince: .*run npx gatewright restored again/,
  )
  t.notMatch(output, /wd_failed/)
  const without = { withdrawals: { ...sandbox, name: 'payer' } } as unknown as Providers
  t.match(await gatewright(['restored', '--since', new Date(since).toISOString(), '--yes'], without), {
    output: /withdrawals: provider payer cannot list what has changed: compare its own records/,
  })
})
