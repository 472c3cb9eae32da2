// A drill on both stores: the database is brought back to an earlier time, after keys were revoked and money had left.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig, runCommand, startHost, type Providers } from '@gatewright/reference-host'
import t, { type Test } from 'tap'
import { openDatabaseOf } from '../harness/database-rows.ts'
import { bearer, bootstrapUser, newWallet, request, signedBootstrap } from '../harness/host.ts'
import * as internals from '../harness/internals.ts'
import { newMoneyUser } from './harness/money.ts'
import { archivingPostgres } from './archiving-postgres.ts'
import { memberOf, withdrawalBody } from './harness/transfers.ts'
import { temporaryFolder } from '../harness/files.ts'

/** A provider of withdrawals that remembers in this process what it has paid out. */
function payer(): Providers {
  const sent = new Map<string, number>()
  const { assets, quote } = internals.PORTS.withdrawals.sandbox({
    db: {} as never,
    clock: { now: () => Date.now() },
  })
  const report = { status: 'completed', reason: null, txHash: null, paidCents: null, relay: null } as const
  const provider = {
    name: 'payer',
    assets,
    quote,
    async send(id: string, want: { readonly amountCents: number; readonly feeCents: number }) {
      sent.set(id, want.amountCents - want.feeCents)
      return report
    },
    find: async (id: string) => (sent.has(id) ? report : undefined),
    changedSince: async () => ({
      changes: [...sent].map(([id, payoutCents]) => ({ ...report, id, payoutCents })),
      next: null,
    }),
  }
  return { withdrawals: provider }
}

/** Where the database is, and how its state is kept and brought back. */
interface Drill {
  readonly env: Record<string, string>
  /** Keeps the state of now, while the host runs. */
  keep(): Promise<Date>
  /** Brings it back. The host is stopped. */
  bringBack(): Promise<void>
}

async function drill(t: Test, { env, keep, bringBack }: Drill): Promise<void> {
  const providers = payer()
  const withHost = async <T>(work: (url: string) => Promise<T>): Promise<T> => {
    const config = readConfig({ PORT: '0', RATE_LIMITS: 'off', ONBOARDING_GATES: 'partner', ...env })
    if (!config.ok) throw new Error(config.problems.join())
    const host = await startHost(config.value, { providers, observe: () => {}, report: () => {} })
    try {
      return await work(host.url)
    } finally {
      await host.close()
    }
  }
  const gatewright = async (...args: string[]): Promise<string> => {
    const { code, out, problem } = await runCommand(args, { env, ask: undefined, providers })
    t.equal(code, 0, `${args.join(' ')}: ${problem}`)
    return out
  }
  const sender =
    (url: string) =>
    (path: string, options = {}) =>
      request(url, path, options)

  const before = await withHost(async url => {
    const send = sender(url)
    const user = await newMoneyUser(send)
    await user.fund(10_000)
    const since = await keep()
    // What the restored database will not know.
    const body = await signedBootstrap(newWallet())
    t.equal((await send('/user/v1/bootstrap', { body })).status, 200)
    const withdrawal = memberOf(await user.write('/withdrawals', withdrawalBody(4000)), 'withdrawal')
    while ((await user.balance()) !== 6000 || (await statusOf(withdrawal.id)) !== 'completed')
      await sleep(200)
    const late = await bootstrapUser(send)
    const { body: listed } = await send('/user/v1/keys', { headers: bearer(user.token) })
    const [key] = listed['keys'] as { readonly id: string }[]
    const revoke = { method: 'DELETE', headers: bearer(user.token) }
    t.equal((await send(`/user/v1/keys/${String(key?.id)}`, revoke)).status, 200)
    t.equal((await send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': user.key } })).status, 401)
    return { user, since, body, late, withdrawal }

    async function statusOf(id: string): Promise<unknown> {
      const { db, close } = openDatabaseOf(env)
      const { rows } = await db.query('select status from gw_withdrawals where id = $1', [id])
      await close()
      return rows[0]?.['status']
    }
  })
  await bringBack()

  const output = await gatewright('restored', '--since', before.since.toISOString(), '--yes')
  t.match(
    output,
    new RegExp(`withdrawal ${before.withdrawal.id}: provider payer pays out .* does not know it`),
  )
  await withHost(async url => {
    const send = sender(url)
    t.equal((await send('/readyz')).status, 503, 'no host is ready yet')
    t.match(await send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': before.user.key } }), {
      status: 403,
      body: { error: 'key_held' },
    })
    for (const { token } of [before.user, before.late])
      t.equal((await send('/user/v1/keys', { headers: bearer(token) })).status, 401, 'no session lives on')
    t.equal((await send('/user/v1/bootstrap', { body: before.body })).status, 401, 'a used statement')
  })
  await gatewright('ledger', 'check', '--full')
  t.match(await gatewright('ledger', 'balance', before.user.userId), / has 100\.00 USD/)
  await gatewright('history', 'accept', '--yes')
  await withHost(async url => t.equal((await sender(url)('/readyz')).status, 200))
}

t.test('SQLite: a copy is put in the place of the database', async t => {
  const folder = temporaryFolder(t)
  const env = { DATA_DIR: join(folder, 'data') }
  const file = join(folder, "host's.sqlite")
  const backup = () => runCommand(['backup', file, '--json'], { env, ask: undefined })
  await drill(t, {
    env,
    async keep() {
      const { out } = await backup()
      t.match(await backup(), { code: 1, problem: /exists: give a new file/ })
      return new Date((JSON.parse(out) as { takenAt: string }).takenAt)
    },
    async bringBack() {
      for (const end of ['', '-wal', '-shm']) rmSync(join(env.DATA_DIR, `host.sqlite${end}`), { force: true })
      cpSync(file, join(env.DATA_DIR, 'host.sqlite'))
      const { out } = await runCommand(['history', 'list', '--json'], { env, ask: undefined })
      t.match(JSON.parse(out), [{ hostId: 'backup', acceptedAt: null }], 'the copy says that it is one')
    },
  })
})

t.test('Postgres: a base backup and the archived log are replayed to a point in time', async t => {
  const postgres = await archivingPostgres()
  t.teardown(() => postgres.stop())
  const folder = temporaryFolder(t)
  const env = {
    DATA_DIR: folder,
    DATABASE_URL: postgres.url,
    KEY_PEPPERS: `test:${'a1'.repeat(24)}`,
    SIGNING_KEY_ENCRYPTION_KEY: 'b2'.repeat(32),
    DATA_KEYS: `test:${'c3'.repeat(32)}`,
  }
  let target = new Date()
  await drill(t, {
    env,
    async keep() {
      await postgres.baseBackup()
      // The next commits are later than the target, to the millisecond.
      await sleep(1100)
      target = new Date()
      await sleep(50)
      return new Date(target.getTime() - 10_000)
    },
    bringBack: () => postgres.bringBack(target),
  })
})
