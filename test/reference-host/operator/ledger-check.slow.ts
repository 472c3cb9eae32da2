import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { bearer, bootstrapUser } from '../../harness/host.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import * as internals from '../../harness/internals.ts'
import { startOperatedHost, type OperatedHost } from '../harness/operator.ts'

const CHECK = '/operator/api/ledger-check'

/** Waits until no check runs. */
async function ended(host: OperatedHost): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const { body } = await host.ask(CHECK)
    if (body['state'] !== 'running') return body
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

for (const stores of ['embedded', 'postgres'] as const) {
  await t.test(`checks the ledger on demand beside requests, ${stores}`, async t => {
    const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-check-'))
    const { env: storesEnv, drop } = await hostStoresEnv(stores)
    const env = { ...storesEnv, DATA_DIR: dataDir }
    const host = await startOperatedHost(env)
    const { db, close } = openDatabaseOf(env)
    t.teardown(async () => {
      await close()
      await host.close()
      await drop()
      rmSync(dataDir, { recursive: true, force: true })
    })
    const user = await bootstrapUser(host.send)
    const headers = { ...bearer(user.token), 'idempotency-key': 'check-0001' }
    t.match(await host.ask(CHECK), { status: 200, body: { state: 'never' } })
    const started = await host.ask(CHECK, { body: {} })
    t.match(started, { status: 200, body: { state: 'running', startedAt: String } })
    const again = await host.ask(CHECK, { body: {} })
    t.equal(again.body['startedAt'], started.body['startedAt'], 'one check at a time')
    // Writes go on while the check runs.
    t.equal(
      (await host.send('/user/v1/subscriptions/payin', { body: { amountCents: 1 }, headers })).status,
      200,
    )
    t.match(await ended(host), { state: 'done', sumCents: 0, transfers: 0, problems: [] })
    await db.query("insert into gw_ledger_accounts (account_id, id, balance_cents) values ('', $1, 5)", [
      'house:broken',
    ])
    const columns =
      'account_id, transfer_id, side, ledger_account, counterpart, amount_cents, cause, created_at'
    await db.query(
      `insert into gw_ledger_legs (${columns}) values ('acc', 'half', 'debit', 'outside:x', 'user:acc', -5, 'x', ${Date.now()})`,
    )
    await host.ask(CHECK, { body: {} })
    t.match(await ended(host), {
      state: 'done',
      problems: [
        'all balances add up to 5 US cents, not to 0',
        /the balance of house:broken is not the sum/,
        /the balance of outside:x is not the sum/,
        'the debit and the credit of transfer half do not add up to 0',
      ],
    })
  })
}

t.test('says that nothing is known when a check takes too long or fails', async t => {
  const clock = { now: () => 1_767_225_600_000 }
  const endless = internals.ledgerChecks(
    signal =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('killed')))
      }),
    clock,
    20,
  )
  t.match(endless.start(), { state: 'running', startedAt: '2026-01-01T00:00:00.000Z' })
  await new Promise(resolve => setTimeout(resolve, 60))
  t.match(endless.latest(), { state: 'failed', limitMs: 20 })
  endless.start()
  await endless.stop()
  t.match(endless.latest(), { state: 'failed' })
  const { execPath } = process
  t.teardown(() => (process.execPath = execPath))
  process.execPath = '/nowhere/node'
  const unstarted = internals.ledgerCheckProcess({ path: '/nowhere/host.sqlite' })
  await t.rejects(unstarted(new AbortController().signal), { code: 'ENOENT' }, 'and the host goes on')
  process.execPath = execPath
  const missing = internals.ledgerChecks(
    internals.ledgerCheckProcess({ path: '/nowhere/host.sqlite' }),
    clock,
  )
  missing.start()
  while (missing.latest().state === 'running') await new Promise(resolve => setTimeout(resolve, 20))
  t.match(missing.latest(), { state: 'failed' })
})
