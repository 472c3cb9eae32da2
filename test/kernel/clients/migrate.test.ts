import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  checkedPrefix,
  fromSqlite,
  migrate,
  rows,
  type SqlClient,
  type SqlDialect,
} from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import Database from 'libsql'
import t from 'tap'
import { startChild } from '../../harness/child.ts'
import { tableNames } from '../../harness/database-rows.ts'
import { openPostgres, openSqlite, type Connections } from '../../harness/stores.ts'

// Not exported by the package.
const { readVersions } = (await import(
  `${process.cwd()}/packages/kernel/dist/clients/migrate.js`
)) as typeof import('../../../packages/kernel/dist/clients/migrate.js')

const none = async (): Promise<void> => {}
const stores: Record<SqlDialect, (count: number) => Promise<Connections<SqlClient>>> = {
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

for (const [dialect, open] of Object.entries(stores) as [SqlDialect, (typeof stores)['sqlite']][]) {
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

  const rejection = (message: RegExp) => ({
    code: 'ERR_STORE_UNAVAILABLE',
    cause: { name: 'IncompatibleTables', message },
  })

  t.test(`${dialect}: rejects tables of a newer version, and writes nothing`, async t => {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    await migrate(db, notes(one, two))
    await t.rejects(
      migrate(db, notes(one)),
      rejection(
        /^database \S+ has version 2, this software knows version 1 of namespace notes: start the newer software that made it/,
      ),
    )
    t.same(await recorded(db), [
      { namespace: 'notes', version: 1 },
      { namespace: 'notes', version: 2 },
    ])
    t.same(await rows(db, 'select body from gw_notes'), [{ body: 'from version 2' }])
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
      t.same(await tableNames(db, dialect), ['gw_later'])
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
    await rows(db, 'create table gw_migrations (name text, version integer)')
    await t.rejects(
      migrate(db, notes(one)),
      rejection(
        /has a table gw_migrations without the column namespace, .*: an unreleased build made it, use a new database$/,
      ),
    )
    t.same(await tableNames(db, dialect), ['gw_migrations'])
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
  const directory = mkdtempSync(join(tmpdir(), 'gatewright-migrate-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
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

t.test('splits a DDL file into its versions', async t => {
  const text = '-- about this file\n-- version 1\na\n-- version 2\nb\n\nc\n'
  t.same(readVersions(text, 'sqlite'), ['a', 'b\n\nc\n'])
})

t.test('writes what a store calls each name in braces, and leaves {prefix}', async t => {
  const text = `-- version 1
create table {prefix}a (
  position {position},
  id {id} not null default '{}',
  body {json},
  {primary key} (id, position)
);

create table {prefix}b (position {position primary key});

create table {prefix}c (id {id} primary key) {without rowid};`
  t.same(readVersions(text, 'postgres'), [
    `create table {prefix}a (
  position bigint generated always as identity,
  id text collate "C" not null default '{}',
  body jsonb,
  primary key (id, position)
);

create table {prefix}b (position bigint generated always as identity primary key);

create table {prefix}c (id text collate "C" primary key) ;`,
  ])
  t.same(readVersions(text, 'sqlite'), [
    `create table {prefix}a (
  position integer primary key autoincrement,
  id text not null default '{}',
  body text,
  unique (id, position)
);

create table {prefix}b (position integer primary key autoincrement);

create table {prefix}c (id text primary key) without rowid;`,
  ])
})

t.test('leaves lines for the other store out, and the lines around them together', async t => {
  const text = `-- version 1
a (
-- postgres only
p
-- both
b
-- sqlite only
s
-- both
)
-- version 2
-- sqlite only
s2
-- both`
  t.same(readVersions(text, 'postgres'), ['a (\np\nb\n)', ''])
  t.same(readVersions(text, 'sqlite'), ['a (\nb\ns\n)', 's2'])
})

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

t.test('rejects a DDL file that it cannot read, and names the line', async t => {
  for (const [text, message] of [
    ['', 'the DDL file must have a line "-- version 1"'],
    ['create table x (id integer)', 'the DDL file must have a line "-- version 1"'],
    [' -- version 1\na', 'the DDL file must have a line "-- version 1"'],
    ['-- version 0\na', 'DDL line 1: expected "-- version 1", got "-- version 0"'],
    ['-- version one\na', 'DDL line 1: expected "-- version 1", got "-- version one"'],
    ['a\n-- version 2\na', 'DDL line 2: expected "-- version 1", got "-- version 2"'],
    ['-- version 1\na\n-- version 3\nb', 'DDL line 3: expected "-- version 2", got "-- version 3"'],
    ['-- version 1\na\n-- version 1\nb', 'DDL line 3: expected "-- version 2", got "-- version 1"'],
    [
      '-- version 1\na\nb {int}',
      'DDL line 3: {int} is unknown: expected {prefix}, {id}, {json}, {position}, {primary key}, {position primary key}, {without rowid}',
    ],
    [
      '-- version 1\n-- mysql only\na\n-- both',
      'DDL line 2: expected "-- postgres only" or "-- sqlite only", got "-- mysql only"',
    ],
    [
      '-- version 1\n-- postgres only\na',
      'DDL line 2: "-- postgres only" must end at a line "-- both" of the same version',
    ],
    [
      '-- version 1\n-- postgres only\na\n-- version 2\n-- both',
      'DDL line 2: "-- postgres only" must end at a line "-- both" of the same version',
    ],
    [
      '-- version 1\n-- postgres only\na\n-- sqlite only\nb\n-- both',
      'DDL line 2: "-- postgres only" must end at a line "-- both" of the same version',
    ],
    [
      '-- version 1\na\n-- both',
      'DDL line 3: "-- both" ends nothing: no "-- postgres only" or "-- sqlite only" is above',
    ],
  ] as const)
    for (const dialect of ['postgres', 'sqlite'] as const)
      t.throws(() => readVersions(text, dialect), { name: 'TypeError', message }, JSON.stringify(text))
})
