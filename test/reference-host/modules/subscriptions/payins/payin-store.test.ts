import { rows, type SqlClient } from '@gatewright/kernel/sql'
import t from 'tap'
import * as internals from '../../../../harness/internals.ts'
import { openSqlite } from '../../../../harness/stores.ts'

const { migrateHost, payins } = internals

t.test('a list of pay-ins does not read the stored members of their requests', async t => {
  const { connections, close } = await openSqlite(1, db => migrateHost(db))
  t.teardown(close)
  const [db] = connections as [SqlClient]
  const properties = { metadata: { order: '1' } }
  const terms = {
    userId: null,
    keyId: null,
    subscriptionId: null,
    planId: null,
    amountCents: 1,
    payTo: null,
    properties,
  }
  const payin = { ...terms, accountId: 'acc_1', operation: 'o', currency: 'USD', method: 'onchain' } as const
  const effect = { effectId: 'e', hold: { id: 'h', held: false } as never }
  const { id } = await db.transaction(tx => payins.insert(tx, effect, payin, 0))
  t.same(await payins.properties(db, 'acc_1', id), properties)
  t.same(await payins.properties(db, 'acc_2', id), undefined, 'of its own account only')
  await rows(db, "update gw_payins set properties = '{'")
  t.match(
    (await payins.page(db, 'acc_1', { limit: 100 })).rows,
    [{ id }],
    'members that cannot be read do not matter',
  )
  await t.rejects(payins.properties(db, 'acc_1', id))
})

t.test('the history of a pay-in has its last 100 moves, in order', async t => {
  const { connections, close } = await openSqlite(1, db => migrateHost(db))
  t.teardown(close)
  const [db] = connections as [SqlClient]
  const terms = {
    userId: null,
    keyId: null,
    subscriptionId: null,
    planId: null,
    amountCents: 1,
    payTo: null,
    properties: {},
  }
  const payin = { ...terms, accountId: 'acc_1', operation: 'o', currency: 'USD', method: 'onchain' } as const
  const effect = { effectId: 'e', hold: { id: 'h', held: false } as never }
  const { id } = await db.transaction(tx => payins.insert(tx, effect, payin, 0))
  const move = (number: number) =>
    rows(
      db,
      `insert into gw_payin_moves (account_id, payin_id, number, from_status, to_status, cause, detail, at)
        values ('acc_1', $1, $2, 'confirming', 'confirming', 'submitted', null, $2)`,
      [id, number],
    )
  for (let number = 2; number <= 100; number++) await move(number)
  const full = await payins.history(db, 'acc_1', id)
  t.match([full.length, full[0], full[1]], [100, { cause: 'created' }, { at: 2 }])
  await move(101)
  const cut = await payins.history(db, 'acc_1', id)
  t.match([cut.length, cut[0], cut.at(-1)], [100, { at: 2 }, { at: 101 }])
})
