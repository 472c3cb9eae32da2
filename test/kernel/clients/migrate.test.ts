import { once } from 'node:events'
import { join } from 'node:path'
import { fromPgPool, fromSqlite, migrate, rows, type SqlClient } from '@gatewright/kernel/sql'
import {
  checkedPrefix,
  newerTables,
  type PlannedVersion,
  type SqlDialect,
} from '@gatewright/kernel/internal/sql'
import { race } from '@gatewright/kernel/testing'
import Database from 'libsql'
import t from 'tap'
import { startChild } from '../../harness/child.ts'
import { tableNames } from '../../harness/database-rows.ts'
import {
  openPostgres,
  openPostgresPool,
  openSqlite,
  uniqueName,
  type Connections,
} from '../../harness/stores.ts'
import { temporaryFolder } from '../../harness/files.ts'

const none = async (): Promise<void> => {}
const stores: Record<Exclude<SqlDialect, 'mariadb'>, (count: number) => Promise<Connections<SqlClient>>> = {
  postgres: count => openPostgres(count, none),
  sqlite: count => openSqlite(count, none),
}

const one = 'create table {prefix}notes (id integer primary key)'
const two = `alter table {prefix}notes add column body text;

insert into {prefix}notes (id, body) values (1, 'from version 2')`
const ddlOf = (...versions: string[]): string =>
  versions.map((text, index) => `-- version ${index + 1}\n${text}`).join('\n')
const notes = (...versions: string[]) => ({ namespace: 'notes', ddl: ddlOf(...versions) })
const recorded = (db: SqlClient): Promise<unknown> =>
  rows(db, 'select namespace, version from gw_migrations order by namespace, version')

for (const [dialect, open] of Object.entries(stores) as [keyof typeof stores, (typeof stores)['sqlite']][]) {
  t.test(`${dialect}: runs each version once, in order, also when it is called again`, async t => {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    await migrate(db, notes(one))
    t.same(await recorded(db), [{ namespace: 'notes', version: 1 }])
    await migrate(db, notes(one, two))
    await migrate(db, notes(one, two))
    t.same(await recorded(db), [
      { namespace: 'notes', version: 1 },
      { namespace: 'notes', version: 2 },
    ])
    t.same(await rows(db, 'select id, body from gw_notes'), [{ id: 1, body: 'from version 2' }])
  })

  /** Made before anything is decided. */
  const locks = dialect === 'postgres' ? ['gw_lock_rows'] : []
  const rejection = (message: RegExp) => ({
    code: 'ERR_STORE_UNAVAILABLE',
    cause: { name: 'IncompatibleTables', message },
  })

  t.test(
    `${dialect}: leaves tables of a newer version as they are, unless they need newer software`,
    async t => {
      const { connections, close } = await open(1)
      t.teardown(close)
      const db = connections[0] as SqlClient
      const contraction = 'alter table {prefix}notes rename column body to text'
      const three = { namespace: 'notes', ddl: `${ddlOf(one, two)}\n-- version 3, least 2\n${contraction}` }
      await migrate(db, notes(one, two))
      await migrate(db, notes(one))
      t.same(await newerTables(db), [], 'version 2 works with software that knows version 1')
      await migrate(db, three)
      await migrate(db, notes(one, two))
      t.same(await newerTables(db), [])
      await t.rejects(
        migrate(db, notes(one)),
        rejection(
          /^database \S+ has version 3, which needs software that knows version 2, this software knows version 1 of namespace notes: start the newer software that made it/,
        ),
      )
      t.same(await newerTables(db), [{ namespace: 'notes', least: 2, known: 1 }])
      t.same(await rows(db, 'select version, least_version from gw_migrations order by version'), [
        { version: 1, least_version: 1 },
        { version: 2, least_version: 1 },
        { version: 3, least_version: 2 },
      ])
      t.same(await rows(db, 'select text from gw_notes'), [{ text: 'from version 2' }])
    },
  )

  t.test(`${dialect}: with planMigration, passes on what is missing and writes nothing`, async t => {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    const planOf = async (...versions: string[]): Promise<unknown> => {
      const planned: PlannedVersion[] = []
      await migrate({ ...db, planMigration: version => planned.push(version) }, notes(...versions))
      return planned
    }
    const first = { namespace: 'notes', version: 1, least: 1, statements: [one.replace('{prefix}', 'gw_')] }
    t.same(await planOf(one), [first])
    t.same(await tableNames(db, dialect), [])
    await migrate(db, notes(one))
    t.same(await planOf(one), [])
    t.same(await planOf(one, 'select 1'), [
      { namespace: 'notes', version: 2, least: 1, statements: ['select 1'] },
    ])
    t.same(await recorded(db), [{ namespace: 'notes', version: 1 }])
  })

  t.test(
    `${dialect}: rejects a table of the namespace without a recorded version, and writes nothing`,
    async t => {
      const { connections, close } = await open(1)
      t.teardown(close)
      const db = connections[0] as SqlClient
      await rows(db, 'create table gw_later (id integer)')
      const later = 'create table {prefix}later (id integer)'
      const message =
        /^database \S+ has a table gw_later without a recorded version, this software knows version 2 of namespace notes: an unreleased build made it, use a new database$/
      await t.rejects(migrate(db, notes(one, later)), rejection(message))
      t.same(await tableNames(db, dialect), ['gw_later', ...locks])
      await migrate(db, notes(one), 'other_')
      await migrate(db, notes(one))
      await migrate(db, {
        namespace: 'own',
        ddl: ddlOf('create table if not exists {prefix}later (id integer)'),
      })
      t.same(await recorded(db), [
        { namespace: 'notes', version: 1 },
        { namespace: 'own', version: 1 },
      ])
    },
  )

  t.test(`${dialect}: rejects a table of versions that it cannot read, and writes nothing`, async t => {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    for (const [columns, missing] of [
      ['name text, version integer, least_version integer', 'namespace'],
      ['namespace text, version integer', 'least_version'],
    ]) {
      await rows(db, `create table gw_migrations (${columns})`)
      await t.rejects(
        migrate(db, notes(one)),
        rejection(
          new RegExp(
            `has a table gw_migrations without the column ${missing}, .*: an unreleased build made it, use a new database$`,
          ),
        ),
      )
      if (missing === 'namespace') await rows(db, 'drop table gw_migrations')
    }
    t.same(await tableNames(db, dialect), [...locks, 'gw_migrations'])
  })

  t.test(
    `${dialect}: of 6 simultaneous calls one migrates, and the others wait and find nothing to do`,
    async t => {
      // SQLite's connections would block the one thread they share: there, one queue takes all six.
      const { connections, close } = await open(dialect === 'postgres' ? 6 : 1)
      t.teardown(close)
      const at = (index: number): SqlClient => connections[index % connections.length] as SqlClient
      await race(6, index => migrate(at(index), notes(one, two)))
      t.same(await recorded(connections[0] as SqlClient), [
        { namespace: 'notes', version: 1 },
        { namespace: 'notes', version: 2 },
      ])
    },
  )

  t.test(`${dialect}: throws a fault and rolls back when a version fails`, async t => {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    await migrate(db, notes(one))
    const broken = `create table {prefix}half (id integer)\n\ncreate table {prefix}notes (id integer)`
    await t.rejects(migrate(db, notes(one, broken)), {
      name: 'Fault',
      code: 'ERR_STORE_UNAVAILABLE',
    })
    t.same(await recorded(db), [{ namespace: 'notes', version: 1 }])
    await t.rejects(rows(db, 'select * from gw_half'), { name: 'Fault' })
    await migrate(db, notes(one, two))
    t.same(await rows(db, 'select id from gw_notes'), [{ id: 1 }])
  })

  t.test(`${dialect}: keeps namespaces and prefixes apart`, async t => {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    await migrate(db, notes(one))
    await migrate(db, notes(one), 'other_')
    await migrate(db, { namespace: 'cards', ddl: ddlOf('create table {prefix}cards (id integer)') })
    t.same(await recorded(db), [
      { namespace: 'cards', version: 1 },
      { namespace: 'notes', version: 1 },
    ])
    t.same(await rows(db, 'select * from other_notes'), [])
  })

  t.test(`${dialect}: accepts comments between blank lines, and lines that end in CR LF`, async t => {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    const text = `-- version 1
-- The table of notes.

create table {prefix}notes (
  id integer primary key -- its id
);

-- The end.
`
    await migrate(db, { namespace: 'notes', ddl: text.replaceAll('\n', '\r\n') })
    t.same(await rows(db, 'select * from gw_notes'), [])
  })
}

t.test('sqlite: of 4 processes that start at once, one migrates', async t => {
  const directory = temporaryFolder(t)
  const file = join(directory, 'test.sqlite')
  const module = new URL('./migrate.child.js', import.meta.url)
  const children = Array.from({ length: 4 }, () => startChild(module, [file, ddlOf(one, two)]))
  const codes = await Promise.all(children.map(async child => (await once(child, 'exit'))[0] as number))
  t.same(codes, [0, 0, 0, 0])
  const database = new Database(file)
  t.teardown(() => database.close())
  t.same(await rows(fromSqlite(database), 'select id, body from gw_notes'), [
    { id: 1, body: 'from version 2' },
  ])
})

t.test('rejects an invalid table prefix before it uses the database', async t => {
  const untouched: SqlClient = {
    dialect: 'sqlite',
    query: () => Promise.reject(new Error('touched')),
    transaction: () => Promise.reject(new Error('touched')),
  }
  for (const prefix of ['', 'Gw_', '1gw', 'gw-', 'gw_; drop', 'gw_\n', 'gw ', 'x'.repeat(32), 'ä_']) {
    t.throws(() => checkedPrefix(prefix), TypeError, JSON.stringify(prefix))
    await t.rejects(migrate(untouched, notes(one), prefix), TypeError)
  }
  for (const prefix of ['_', 'gw_', 'a1', 'x'.repeat(31)]) t.equal(checkedPrefix(prefix), prefix)
})

t.test(
  'divides a table by its column into the partitions of the client, and numbers their rows together',
  async t => {
    const ddl = `-- version 1
create table {prefix}a (
  position {position},
  account {id} not null,
  {primary key} (account, position)
) {by account};

create table {prefix}b (id {id} primary key) {lookup by id};

create table {prefix}c (position {position primary key}) {reference};`
    const { connections, close } = await openPostgres(1, none)
    t.teardown(close)
    const db = connections[0] as SqlClient
    await migrate(db, { namespace: 'notes', ddl })
    t.same([...(await tableNames(db, 'postgres'))].sort(), [
      'gw_a',
      'gw_b',
      'gw_c',
      'gw_lock_rows',
      'gw_migrations',
    ])
    for (let account = 0; account < 20; account++)
      await rows(db, 'insert into gw_a (account) values ($1)', [`acct_${account}`])
    const [row] = await rows(db, 'select min(position) as least, max(position) as most from gw_a')
    t.same(row, { least: '1', most: '20' })
    await rows(db, 'drop table gw_a, gw_c')
    t.same(
      await rows(
        db,
        "select 1 from pg_class where relkind = 'S' and relnamespace = current_schema()::regnamespace",
      ),
      [],
    )
  },
)

t.test('runs the text of both stores on each', async t => {
  const text = `-- version 1
create table {prefix}a (
  position {position},
  id {id} not null,
  body {json},
  {primary key} (id, position)
);

create table {prefix}b (position {position primary key}, n bigint);

create table {prefix}c (id {id} primary key) {without rowid};`
  for (const open of Object.values(stores)) {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    await migrate(db, { namespace: 'notes', ddl: text })
    for (const id of ['b', 'B', 'a']) {
      await rows(db, 'insert into gw_a (id, body) values ($1, $2)', [id, '{}'])
      await rows(db, 'insert into gw_c (id) values ($1)', [id])
    }
    for (const table of ['a', 'c'])
      t.same(
        (await rows(db, `select id from gw_${table} order by id`)).map(row => row['id']),
        ['B', 'a', 'b'],
        'ids are ordered byte by byte',
      )
    t.same(
      (await rows(db, 'select position from gw_a order by position')).map(row => Number(row['position'])),
      [1, 2, 3],
    )
  }
})

t.test('postgres: of 6 simultaneous calls one migrates', async t => {
  const schema = uniqueName()
  const pools = [await openPostgresPool(schema, 1)]
  while (pools.length < 6) pools.push(await openPostgresPool(schema, 1))
  const dbs = pools.map(pool => fromPgPool(pool))
  await race(6, index => migrate(dbs[index] as SqlClient, notes(one, two)))
  t.same(await recorded(dbs[0] as SqlClient), [
    { namespace: 'notes', version: 1 },
    { namespace: 'notes', version: 2 },
  ])
  await pools[0]?.query(`drop schema ${schema} cascade`)
  await Promise.all(pools.map(pool => pool.end()))
})

t.test('postgres: waits for a reader without blocking others, and migrates once it has ended', async t => {
  const { connections, close } = await openPostgres(3, db => migrate(db, notes(one)))
  t.teardown(close)
  const [db, reader, other] = connections as [SqlClient, SqlClient, SqlClient]
  let migrated: Promise<void> | undefined
  await reader.transaction(async tx => {
    await rows(tx, 'select * from gw_notes')
    migrated = migrate(db, notes(one, two))
    await waitsForLock(other, 'gw_notes')
    // Behind the migration, which gives up its place.
    t.same(await rows(other, 'select id from gw_notes'), [], 'a second reader')
    t.same(await recorded(other), [{ namespace: 'notes', version: 1 }])
  })
  await migrated
  t.same(await rows(other, 'select body from gw_notes'), [{ body: 'from version 2' }])
})

t.test('postgres: gives up after its patience, and says what to do', async t => {
  const { connections, close } = await openPostgres(2, db => migrate(db, notes(one)))
  t.teardown(close)
  const [db, reader] = connections as [SqlClient, SqlClient]
  await reader.transaction(async tx => {
    await rows(tx, 'select * from gw_notes')
    await t.rejects(migrate(db, { ...notes(one, two), patienceSeconds: 0 }), {
      code: 'ERR_STORE_UNAVAILABLE',
      message: 'the tables could not be migrated',
      cause: { message: /^other transactions have used the tables for 0 s: end the long ones/ },
    })
  })
  t.same(await recorded(db), [{ namespace: 'notes', version: 1 }])
})

/** Resolves when a connection waits for the lock of a table. */
async function waitsForLock(db: SqlClient, table: string): Promise<void> {
  const waiting = 'select 1 from pg_locks where relation = to_regclass($1) and not granted'
  while ((await rows(db, waiting, [table])).length === 0);
}
