// A copy of the embedded database that `gatewright backup` takes while a host serves writes.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import { rows } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewrightProcess } from '../../harness/gatewright.ts'
import { openTestHost } from '../../harness/host.ts'
import * as internals from '../../harness/internals.ts'
import { newMoneyUser } from '../harness/money.ts'
import { temporaryFolder } from '../../harness/files.ts'

const WRITERS = 4
const folder = temporaryFolder(t)

t.test('a copy under writes has balanced books and every write acknowledged before it', async t => {
  const dataDir = join(folder, 'data')
  const host = await openTestHost(t, { DATA_DIR: dataDir, RATE_LIMITS: 'off' })
  const users = await Promise.all(Array.from({ length: WRITERS }, () => newMoneyUser(host.send)))
  for (const user of users) await user.fund(100_000)
  const writes = { acknowledged: 0, ended: false }
  const writing = users.map(async (user, index) => {
    const to = { walletAddress: users[(index + 1) % WRITERS]?.address }
    while (!writes.ended) {
      const { status, body } = await user.write('/payments', { to, amountCents: 1 })
      if (status !== 200) throw new Error(JSON.stringify(body))
      writes.acknowledged += 1
    }
  })
  const file = join(folder, 'copy.sqlite')
  const before = writes.acknowledged
  const { code, output } = await gatewrightProcess(['backup', file], { DATA_DIR: dataDir })
  const after = writes.acknowledged
  writes.ended = true
  await Promise.all(writing)
  t.equal(code, 0, output)
  t.ok(after > before, 'the host wrote while the copy was taken')

  const restored = join(folder, 'restored')
  mkdirSync(restored)
  copyFileSync(file, join(restored, 'host.sqlite'))
  const { db, close } = openDatabaseOf({ DATA_DIR: restored })
  t.teardown(close)
  t.match(await createLedger(db).check(), { sumCents: 0, wrongAccounts: [], wrongTransfers: [] })
  t.same(await internals.accountsThatDiffer(db, internals.heldMoney), [])
  const payments = toInteger(
    (
      await rows(
        db,
        "select count(*) as n from gw_transactions where source_kind = 'payment' and direction = 'debit'",
      )
    )[0]?.['n'],
  )
  t.ok(payments >= before && payments <= after + WRITERS, `${payments} of ${before} to ${after + WRITERS}`)
  t.same(host.failures, [])
})
