import { readFileSync } from 'node:fs'
import { migrate, readVersions, rows, toInteger, type SqlDialect } from '@gatewright/kernel/sql'
import t from 'tap'
import { openPostgres, openSqlite } from '../../harness/stores.ts'

for (const dialect of ['postgres', 'sqlite'] as const satisfies readonly SqlDialect[]) {
  t.test(
    `${dialect}: pay-ins of the first version are kept, with their holds, in the order they were made`,
    async t => {
      const versions = readVersions(
        readFileSync(`packages/reference-host/src/storage/host.${dialect}.sql`, 'utf8'),
      )
      const open = dialect === 'postgres' ? openPostgres : openSqlite
      const { connections, close } = await open(1, db =>
        migrate(db, dialect, { namespace: 'host', versions: versions.slice(0, 1) }),
      )
      t.teardown(close)
      const db = connections[0]!
      for (const [id, at] of [
        ['payin_late', 20],
        ['payin_early', 10],
      ] as const) {
        await rows(
          db,
          `insert into gw_payins (id, account_id, user_id, effect_id, amount_cents, currency, method, status,
            properties, hold, created_at, expires_at)
          values ($1, 'acc', null, $1, 5, 'USD', 'onchain', 'awaiting_payment', '{}', '{"held":true}', $2, 100)`,
          [id, at],
        )
      }
      for (let again = 0; again < 2; again += 1) await migrate(db, dialect, { namespace: 'host', versions })
      const kept = await rows(db, 'select * from gw_payins order by position')
      t.match(
        kept.map(row => ({ ...row, moves: toInteger(row['moves']) })),
        [
          {
            id: 'payin_early',
            status: 'awaiting_payment',
            moves: 1,
            hold: '{"held":true}',
            chain_id: null,
            operation: 'subscriptions.payin',
          },
          { id: 'payin_late' },
        ],
      )
      t.match(await rows(db, 'select * from gw_payin_moves order by at'), [
        { payin_id: 'payin_early', from_status: null, to_status: 'awaiting_payment', cause: 'created' },
        { payin_id: 'payin_late' },
      ])
      const insert = `insert into gw_payin_moves (payin_id, number, to_status, cause, at)
      values ('payin_none', 1, 'settled', 'x', 0)`
      if (dialect === 'sqlite') await rows(db, 'pragma foreign_keys = on')
      await t.rejects(rows(db, insert), 'a move belongs to a pay-in')
    },
  )
}
