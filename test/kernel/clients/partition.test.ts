import { fromPgPool, migrate, rows, type SqlClient } from '@gatewright/kernel/sql'
import { defer } from '@gatewright/kernel/internal/sql'
import t from 'tap'
import { openPostgresPool, openSqlite, uniqueName, type Connections } from '../../harness/stores.ts'

// Not exported by the package.
const { inPartitions, partitionOf } = (await import(
  `${process.cwd()}/packages/kernel/dist/clients/partition.js`
)) as typeof import('../../../packages/kernel/dist/clients/partition.js')

/** Opens a Postgres client whose tables are divided into so many partitions. */
async function openDivided(partitions: number): Promise<Connections<SqlClient>> {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 1)
  return {
    connections: [fromPgPool(pool, { partitions })],
    async close() {
      await pool.query(`drop schema ${schema} cascade`)
      await pool.end()
    },
  }
}
const DDL = `-- version 1
create table {prefix}notes (
  account_id {id} not null,
  id {id} not null,
  primary key (account_id, id)
) {by account_id};`
const notes = { namespace: 'notes', ddl: DDL }
const INSERT = 'insert into gw_notes@$2 (id, account_id) values ($1, $2)'
const FIND = 'select id from gw_notes@$1 n where n.account_id = $1'
/** Texts of every length up to three rounds of the hash, with all bytes that UTF-8 has. */
const TEXTS = Array.from({ length: 40 }, (_, length) => [
  'x'.repeat(length),
  `${'é€😀'.repeat(length)}${length}`,
]).flat()

t.test('finds the partition in which Postgres keeps a text', async t => {
  for (const partitions of [2, 7, 8, 64]) {
    const { connections, close } = await openDivided(partitions)
    t.teardown(close)
    const db = connections[0] as SqlClient
    await migrate(db, notes)
    for (const text of TEXTS) await rows(db, "insert into gw_notes (account_id, id) values ($1, '')", [text])
    const found = await rows(db, 'select account_id, tableoid::regclass::text as kept from gw_notes')
    t.same(
      new Map(found.map(({ account_id: text, kept }) => [text, kept])),
      new Map(TEXTS.map(text => [text, `gw_notes_p${partitionOf(text, partitions)}of${partitions}`])),
    )
  }
})

t.test(
  'sends a statement to the partition of a parameter, in a transaction too, or to the plain table',
  async t => {
    const open = {
      'several partitions': () => openDivided(3),
      'one partition': () => openDivided(1),
      SQLite: () => openSqlite(1, async () => {}),
    }
    for (const [name, opening] of Object.entries(open)) {
      const { connections, close } = await opening()
      t.teardown(close)
      const db = connections[0] as SqlClient
      await migrate(db, notes)
      for (const account of TEXTS) await rows(db, INSERT, ['n1', account])
      const inTransaction = await db.transaction(async tx => {
        await defer(tx, INSERT, ['n2', 'ann'])
        return rows(tx, FIND, ['ann'])
      })
      t.same(inTransaction, [{ id: 'n2' }], name)
      for (const account of TEXTS) t.same(await rows(db, FIND, [account]), [{ id: 'n1' }], name)
    }
  },
)

t.test('uses the partition of each parameter', t => {
  const part = (account: string): string => `_p${partitionOf(account, 8)}of8`
  t.equal(
    inPartitions('from a@$2 join b@$1 on true, c@$2', ['ann', 'ben'], 8),
    `from a${part('ben')} join b${part('ann')} on true, c${part('ben')}`,
  )
  t.not(part('ann'), part('ben'))
  t.equal(
    inPartitions('from a@$1 where tags <@$2 and @$2 < 0', ['ann', 7], 8),
    `from a${part('ann')} where tags <@$2 and @$2 < 0`,
    'an operator stays',
  )
  t.throws(() => inPartitions('from a@$1', [7], 8), {
    name: 'TypeError',
    message: 'the value that selects a partition must be a text, not number',
  })
  t.end()
})

t.test('rejects a database that finds partitions by another hash', async t => {
  const { connections, close } = await openDivided(3)
  t.teardown(close)
  const db = connections[0] as SqlClient
  const other: SqlClient = {
    ...db,
    transaction: work =>
      db.transaction(tx =>
        work({
          ...tx,
          query: async (text, values) =>
            text.includes('satisfies_hash_partition') ? { rows: [{ found: false }] } : tx.query(text, values),
        }),
      ),
  }
  await t.rejects(migrate(other, notes), {
    code: 'ERR_STORE_UNAVAILABLE',
    cause: { name: 'IncompatibleTables', message: /another hash .* use 1 partition/ },
  })
  t.same(await rows(db, "select to_regclass('gw_notes') as notes"), [{ notes: null }])
})
