import t from 'tap'
import { readVersions } from '#packages/kernel/dist/clients/ddl.js'

const statementsOf = (...given: Parameters<typeof readVersions>): unknown =>
  readVersions(...given).map(({ statements }) => statements)

t.test('splits a DDL file into its versions', async t => {
  const text = '-- about this file\n-- version 1\na\n-- version 2\nb\n\nc\n'
  t.same(statementsOf(text, 'sqlite'), [['a'], ['b', 'c\n']])
})

t.test('reads which version software must know, which is that of the version below by default', async t => {
  const text =
    '-- version 1\na\n-- version 2\nb\n-- version 3, least 2\nc\n-- version 4\nd\n-- version 5, least 5\ne'
  t.same(
    readVersions(text, 'postgres').map(({ least }) => least),
    [1, 1, 2, 2, 5],
  )
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
  t.same(statementsOf(text, 'postgres'), [
    [
      'create sequence {prefix}a_position_seq',
      `create table {prefix}a (
  position bigint not null default nextval('{prefix}a_position_seq'),
  id text collate "C" not null default '{}',
  body jsonb,
  primary key (id, position)
);`,
      'alter sequence {prefix}a_position_seq owned by {prefix}a.position',
      'create sequence {prefix}b_position_seq',
      "create table {prefix}b (position bigint primary key not null default nextval('{prefix}b_position_seq'));",
      'alter sequence {prefix}b_position_seq owned by {prefix}b.position',
      'create table {prefix}c (id text collate "C" primary key) ;',
    ],
  ])
  t.same(statementsOf(text, 'sqlite'), [
    [
      `create table {prefix}a (
  position integer primary key autoincrement,
  id text not null default '{}',
  body text,
  unique (id, position)
);`,
      'create table {prefix}b (position integer primary key autoincrement);',
      'create table {prefix}c (id text primary key) without rowid;',
    ],
  ])
})

t.test('leaves the marks of tables out', async t => {
  const text = `-- version 1
create table {prefix}a (account_id {id} primary key) {without rowid} {by account_id};

create table {prefix}b (id {id} primary key) {lookup by id};

create table {prefix}c (id {id} primary key) {reference};`
  t.same(statementsOf(text, 'postgres'), [
    [
      'create table {prefix}a (account_id text collate "C" primary key)  ;',
      'create table {prefix}b (id text collate "C" primary key) ;',
      'create table {prefix}c (id text collate "C" primary key) ;',
    ],
  ])
})

t.test('rejects a position outside a table', async t => {
  for (const dialect of ['postgres', 'sqlite'] as const)
    t.throws(() => readVersions('-- version 1\nalter table x add column n {position}', dialect), {
      name: 'TypeError',
      message: 'DDL: "n {position}" must be in a "create table", got alter table x add column n {position}',
    })
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
  t.same(statementsOf(text, 'postgres'), [['a (\np\nb\n)'], []])
  t.same(statementsOf(text, 'sqlite'), [['a (\nb\ns\n)'], ['s2']])
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
    ['-- version 1 least 1\na', 'DDL line 1: expected "-- version 1", got "-- version 1 least 1"'],
    ['-- version 1, least 0\na', 'DDL line 1: "least" must be from 1 to 1, got 0'],
    ['-- version 1\na\n-- version 2, least 3\nb', 'DDL line 3: "least" must be from 1 to 2, got 3'],
    [
      '-- version 1\na\n-- version 2, least 2\nb\n-- version 3, least 1\nc',
      'DDL line 5: "least" must be from 2 to 3, got 1',
    ],
    [
      '-- version 1\na\nb {int}',
      'DDL line 3: {int} is unknown: expected one of {prefix}, {position}, {position primary key}, {by COLUMN}, {lookup by COLUMN}, {id}, {json}, {primary key}, {without rowid}, {reference}',
    ],
    [
      '-- version 1\n-- mysql only\na\n-- both',
      'DDL line 2: expected one of "-- postgres only", "-- sqlite only", got "-- mysql only"',
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

t.test('writes tables and indexes as MariaDB has them', async t => {
  const text = `-- version 1
create table {prefix}a (
  id {id} primary key,
  state text not null,
  body {json}
) {without rowid} {by id};

create index {prefix}a_state on {prefix}a (state) where state <> 'running';

-- postgres only
select 1;
-- both`
  t.same(statementsOf(text, 'mariadb'), [
    [
      `create table {prefix}a (
  id varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin primary key,
  state longtext not null,
  body longtext
)   engine = InnoDB default character set utf8mb4 collate utf8mb4_nopad_bin`,
      'create index {prefix}a_state on {prefix}a (state)',
    ],
  ])
})

t.test('rejects what MariaDB does not have', async t => {
  const mysql = (text: string) => () => statementsOf(`-- version 1\n${text}`, 'mariadb')
  t.throws(
    mysql('create table a (position {position})'),
    /"position \{position\}" is for Postgres and SQLite only/,
  )
  t.throws(
    mysql('create unique index a_b on a (b) where c = 1'),
    /MariaDB has no unique index on some rows only, in create unique index a_b/,
  )
})
