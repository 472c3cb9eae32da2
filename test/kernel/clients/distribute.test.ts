// Where rows are on several machines. What Citus makes of it is in `npm run test:citus`, because no package has it.
import { distribute, distributing, isCitus, takesDue, undistributed } from '@gatewright/kernel/internal/sql'
import { migrate, type SqlClient } from '@gatewright/kernel/sql'
import t from 'tap'
import { openPostgres, openSqlite } from '../../harness/stores.ts'

const DDL = `-- version 1
create table {prefix}notes (
  account_id {id} not null,
  id {id} not null,
  due_at bigint not null,
  primary key (account_id, id)
) {by account_id};

-- Few rows.
create table {prefix}kinds (id {id} primary key) {reference};

-- Found by a code.
create table if not exists {prefix}codes (
  code {id} primary key,
  account_id {id} not null
) {without rowid} {lookup by code};
`
const MARKS = [
  { table: 'gw_notes', column: 'account_id' },
  { table: 'gw_kinds' },
  { table: 'gw_codes', column: 'code' },
]

/** A client that answers as Citus, of whose tables some are distributed, and records what it is told to distribute. */
function asCitus(
  db: SqlClient,
  distributed: string[],
): { readonly citus: SqlClient; readonly sent: string[] } {
  const sent: string[] = []
  const citus: SqlClient = {
    ...db,
    async query(text, values) {
      if (text.includes("extname = 'citus'")) return { rows: [{}] }
      if (text.includes('from pg_dist_partition')) return { rows: distributed.map(name => ({ name })) }
      const [, table] = /^select create_\w+\('(\w+)'/.exec(text) ?? []
      if (table === undefined) return db.query(text, values)
      sent.push(text)
      distributed.push(table)
      return { rows: [] }
    },
  }
  return { citus, sent }
}

t.test('migrate lists the marks of its tables without writing', async t => {
  for (const open of [openPostgres, openSqlite]) {
    const { connections, close } = await open(1, async () => {})
    const listed: unknown[] = []
    const db = {
      ...(connections[0] as SqlClient),
      listMarks: (marks: readonly unknown[]) => listed.push(...marks),
    }
    await migrate(db, { namespace: 'notes', ddl: DDL })
    t.same(listed, [...MARKS, { table: 'gw_migrations' }, { table: 'gw_lock_rows', column: 'account_id' }])
    await t.rejects(db.query('select 1 from gw_notes'), 'nothing was created')
    await close()
  }
})

t.test('a mark says how Citus distributes a table, at once or while others write', async t => {
  t.same(
    MARKS.map(mark => distributing(mark)),
    [
      "select create_distributed_table('gw_notes', 'account_id')",
      "select create_reference_table('gw_kinds')",
      "select create_distributed_table('gw_codes', 'code')",
    ],
  )
  t.same(
    MARKS.map(mark => distributing({ ...mark, concurrently: true })),
    [
      "select create_distributed_table_concurrently('gw_notes', 'account_id')",
      "select create_reference_table('gw_kinds')",
      "select create_distributed_table_concurrently('gw_codes', 'code')",
    ],
  )
})

t.test('migrate distributes what it adds, once the table of locks is distributed', async t => {
  for (const begun of [false, true]) {
    const { connections, close } = await openPostgres(1, async () => {})
    const { citus, sent } = asCitus(connections[0] as SqlClient, begun ? ['gw_lock_rows'] : [])
    await migrate(citus, { namespace: 'notes', ddl: DDL })
    const all = [{ table: 'gw_migrations' }, ...MARKS].map(mark => distributing(mark))
    t.same(sent.splice(0), begun ? all : [])
    await migrate(citus, { namespace: 'notes', ddl: DDL })
    t.same(sent, [], 'again, there is nothing to do')
    await close()
  }
})

t.test('of two that distribute a table, the slower finds it done', async t => {
  const { connections, close } = await openPostgres(1, async () => {})
  t.teardown(close)
  const { citus } = asCitus(connections[0] as SqlClient, ['gw_notes'])
  const failing: SqlClient = {
    ...citus,
    query: async (text, values) => {
      if (text.startsWith('select create_')) throw new Error('table is already distributed')
      return citus.query(text, values)
    },
  }
  await distribute(failing, { table: 'gw_notes', column: 'account_id' })
  await t.rejects(distribute(failing, { table: 'gw_kinds' }), {
    cause: { message: 'table is already distributed' },
  })
  t.same(await undistributed(citus, MARKS), MARKS.slice(1))
})

t.test(
  'on Citus due rows are taken without a lock in several shards, and the condition is repeated',
  async t => {
    const { connections, close } = await openPostgres(1, db => migrate(db, { namespace: 'notes', ddl: DDL }))
    t.teardown(close)
    const plain = connections[0] as SqlClient
    const { citus } = asCitus(plain, [])
    t.same([await isCitus(plain), await isCitus(citus)], [false, true])
    const due = {
      table: 'gw_notes',
      key: 'account_id, id',
      due: 'due_at <= $1',
      order: 'due_at',
      limit: '$2',
    }
    t.match(await takesDue(plain, due), 'for update skip locked')
    t.notMatch(await takesDue(citus, due), 'for update')
    await plain.query("insert into gw_notes select 'acc', n, n from generate_series(1, 9) as n")
    for (const db of [plain, citus]) {
      const { rows } = await db.query(
        `delete from gw_notes where ${await takesDue(db, due)} returning due_at`,
        [5, 2],
      )
      t.equal(rows.length, 2)
    }
    const { rows } = await plain.query('select due_at from gw_notes order by due_at')
    t.same(
      rows.map(row => Number(row['due_at'])),
      [5, 6, 7, 8, 9],
      'the earliest were taken',
    )
  },
)
