import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  checkedPrefix,
  fromSqlite,
  migrate,
  readVersions,
  rows,
  type SqlClient,
  type SqlDialect,
} from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import Database from 'libsql'
import t from 'tap'
import { startChild } from '../../harness/child.ts'
import { openPostgres, openSqlite, type Connections } from '../../harness/stores.ts'

const none = async (): Promise<void> => {}
const stores: Record<SqlDialect, (count: number) => Promise<Connections<SqlClient>>> = {
  postgres: count => openPostgres(count, none),
  sqlite: count => openSqlite(count, none),
}

const one = 'create table {prefix}notes (id integer primary key)'
const two = `alter table {prefix}notes add column body text;

insert into {prefix}notes (id, body) values (1, 'from version 2')`
const notes = (...versions: string[]): Parameters<typeof migrate>[2] => ({ namespace: 'notes', versions })
const recorded = (db: SqlClient): Promise<unknown> =>
  rows(db, 'select room, version from gw_migrations order by room, version')

for (const [dialect, open] of Object.entries(stores) as [SqlDialect, (typeof stores)['sqlite']][]) {
  t.test(`${dialect}: runs each version once, in order, also when it is called again`, async t => {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    await migrate(db, dialect, notes(one))
    t.same(await recorded(db), [{ room: 'notes', version: 1 }])
    await migrate(db, dialect, notes(one, two))
    await migrate(db, dialect, notes(one, two))
    t.same(await recorded(db), [
      { room: 'notes', version: 1 },
      { room: 'notes', version: 2 },
    ])
    t.same(await rows(db, 'select id, body from gw_notes'), [{ id: 1, body: 'from version 2' }])
  })

  t.test(`${dialect}: an older host leaves newer tables unchanged`, async t => {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    await migrate(db, dialect, notes(one, two))
    await migrate(db, dialect, notes(one))
    t.same(await rows(db, 'select count(*) as n from gw_notes where body is not null'), [
      { n: dialect === 'postgres' ? '1' : 1 },
    ])
  })

  t.test(
    `${dialect}: of 6 simultaneous calls one migrates, and the others wait and find nothing to do`,
    async t => {
      // SQLite's connections would block the one thread they share: there, one queue takes all six.
      const { connections, close } = await open(dialect === 'postgres' ? 6 : 1)
      t.teardown(close)
      const at = (index: number): SqlClient => connections[index % connections.length] as SqlClient
      await race(6, index => migrate(at(index), dialect, notes(one, two)))
      t.same(await recorded(connections[0] as SqlClient), [
        { room: 'notes', version: 1 },
        { room: 'notes', version: 2 },
      ])
    },
  )

  t.test(`${dialect}: throws a fault and rolls back when a version fails`, async t => {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    await migrate(db, dialect, notes(one))
    const broken = `create table {prefix}half (id integer)\n\ncreate table {prefix}notes (id integer)`
    await t.rejects(migrate(db, dialect, notes(one, broken)), {
      name: 'Fault',
      code: 'ERR_STORE_UNAVAILABLE',
    })
    t.same(await recorded(db), [{ room: 'notes', version: 1 }])
    await t.rejects(rows(db, 'select * from gw_half'), { name: 'Fault' })
    await migrate(db, dialect, notes(one, two))
    t.same(await rows(db, 'select id from gw_notes'), [{ id: 1 }])
  })

  t.test(`${dialect}: keeps namespaces and prefixes apart`, async t => {
    const { connections, close } = await open(1)
    t.teardown(close)
    const db = connections[0] as SqlClient
    await migrate(db, dialect, notes(one))
    await migrate(db, dialect, notes(one), 'other_')
    await migrate(db, dialect, { namespace: 'cards', versions: ['create table {prefix}cards (id integer)'] })
    t.same(await recorded(db), [
      { room: 'cards', version: 1 },
      { room: 'notes', version: 1 },
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
    await migrate(db, dialect, notes(...readVersions(text.replaceAll('\n', '\r\n'))))
    t.same(await rows(db, 'select * from gw_notes'), [])
  })
}

t.test('sqlite: of 4 processes that start at once, one migrates', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'gatewright-migrate-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'test.sqlite')
  const module = new URL('./migrate.child.js', import.meta.url)
  const children = Array.from({ length: 4 }, () => startChild(module, [file, one, two]))
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
    query: () => Promise.reject(new Error('touched')),
    transaction: () => Promise.reject(new Error('touched')),
  }
  for (const prefix of ['', 'Gw_', '1gw', 'gw-', 'gw_; drop', 'gw_\n', 'gw ', 'x'.repeat(32), 'ä_']) {
    t.throws(() => checkedPrefix(prefix), TypeError, JSON.stringify(prefix))
    await t.rejects(migrate(untouched, 'sqlite', notes(one), prefix), TypeError)
  }
  for (const prefix of ['_', 'gw_', 'a1', 'x'.repeat(31)]) t.equal(checkedPrefix(prefix), prefix)
})

t.test('splits a DDL file into its versions', async t => {
  t.same(readVersions('-- about this file\n-- version 1\na\n-- version 2\nb\n\nc\n'), ['\na\n', '\nb\n\nc\n'])
})

t.test('rejects a DDL file whose versions do not count 1, 2, 3 ...', async t => {
  const wrong = [
    '',
    'create table x (id integer)',
    '-- version 0\na',
    '-- version 2\na',
    '-- version 1\na\n-- version 3\nb',
    '-- version 1\na\n-- version 1\nb',
    ' -- version 1\na',
    '-- version one\na',
  ]
  for (const text of wrong) t.throws(() => readVersions(text), TypeError, JSON.stringify(text))
})
