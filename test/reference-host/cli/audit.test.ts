// The audit log as operators page through it. On both databases.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rows } from '@gatewright/kernel/sql'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright as runGatewright, jsonOf, type Ran } from '../../harness/gatewright.ts'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'

interface Row {
  readonly at: string
  readonly id: string
  readonly target: string
}

for (const stores of ['embedded', 'postgres'] as const) {
  await t.test(stores, async t => {
    const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-audit-'))
    const { env: storesEnv, drop } = await keptHostStoresEnv(stores)
    const env = { ...storesEnv, DATA_DIR: dataDir, PORT: '0' }
    t.teardown(async () => {
      await drop()
      rmSync(dataDir, { recursive: true, force: true })
    })
    const gatewright = (...args: string[]): Promise<Ran> => runGatewright(['audit', 'list', ...args], env)
    const json = async (...args: string[]): Promise<Row[]> => jsonOf(await gatewright(...args, '--json'))
    const made = await runGatewright(['partner-keys', 'create', 'Acme', '--json'], env)
    const { partnerId, keyId } = jsonOf<{ partnerId: string; keyId: string }>(made)
    // One rotation writes two rows in one millisecond, and the rows of a busy account share many more.
    await runGatewright(['partner-keys', 'rotate', keyId], env)
    const { db, close } = openDatabaseOf(env)
    await rows(db, 'update gw_audit set at = (select max(at) from gw_audit)')
    for (const row of await rows(db, 'select id, at, entry from gw_audit')) {
      const entry = { ...(JSON.parse(String(row['entry'])) as object), at: Number(row['at']) }
      await rows(db, 'update gw_audit set entry = $1 where id = $2', [
        JSON.stringify(entry),
        String(row['id']),
      ])
    }
    const user = `insert into gw_users (id, account_id, principal, kyc_status, created_at)
      values ('usr_1', 'acc_1', 'usr_1', 'not_submitted', 1)`
    await rows(db, user)
    await close()

    await t.test('lists every row once, page by page, where rows share a millisecond', async t => {
      const all = await json('--account', partnerId)
      t.equal(all.length, 3)
      t.equal(new Set(all.map(({ at }) => at)).size, 1)
      const paged: Row[] = []
      const options: string[] = []
      for (;;) {
        const { code, output } = await gatewright('--account', partnerId, '--limit', '1', ...options)
        t.equal(code, 0, output)
        paged.push(...(await json('--account', partnerId, '--limit', '1', ...options)))
        const next = /^For the next page: (--before) (\S+)$/m.exec(output)
        if (!next) break
        options.splice(0, 2, next[1] as string, next[2] as string)
      }
      t.same(paged, all)
    })

    await t.test('lists rows from before an instant', async t => {
      const [{ at } = { at: '' }] = await json('--account', partnerId)
      t.same(await json('--account', partnerId, '--before', at), [])
      const later = new Date(Date.parse(at) + 1).toISOString().replace('Z', '+00:00')
      t.equal((await json('--account', partnerId, '--before', later)).length, 3)
      const none = await gatewright('--account', partnerId, '--before', '2020-01-01T00:00:00Z')
      t.match(none, { code: 0, output: /^No rows\.$/m })
    })

    await t.test("takes a user id, and refuses an id that is nobody's", async t => {
      t.match(await gatewright('--account', 'usr_1'), { code: 0, output: /^No rows\.$/m })
      t.match(await gatewright('--account', 'acc_x'), { code: 1, output: /no user or account acc_x/ })
    })

    await t.test('explains invalid arguments', async t => {
      for (const limit of ['0', '1001', '', '1e2'])
        t.match(await gatewright('--account', partnerId, `--limit=${limit}`), {
          code: 2,
          output: /^--limit must be an integer from 1 to 1000, got/,
        })
      for (const before of [
        '',
        '2026',
        '2026-01-31',
        '2026-01-31T12:00:00',
        'Jan 1 2026',
        '2026-13-01T00:00:00Z',
        '2026-02-31T00:00:00Z',
      ])
        t.match(await gatewright('--account', partnerId, `--before=${before}`), {
          code: 2,
          output: /^--before must be an instant \(RFC 3339\) with Z or an offset/,
        })
    })
  })
}
