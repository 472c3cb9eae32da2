// Which rows may be where on a database of several machines: every table of the DDL says it by a mark, and Postgres checks it.
import { readFileSync } from 'node:fs'
import { migrateLedger } from '@gatewright/host/internal'
import { migrateIdempotency } from '@gatewright/idempotency-store/postgres'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { migrateAliasUsage } from '@gatewright/legacy-alias-router/postgres'
import { migrateHost } from '@gatewright/reference-host/internal'
import { migrateSpends } from '@gatewright/scope-guard/postgres'
import { migrateCredentials } from '@gatewright/session-issuer/postgres'
import { migrateNonces } from '@gatewright/signature-verifier/postgres'
import t from 'tap'
import { filesBelow } from '../harness/files.ts'
import { openPostgres } from '../harness/stores.ts'

/** A table of a DDL text: its name, its marks, and whether a comment stands above it. */
interface MarkedTable {
  readonly name: string
  readonly marks: readonly string[]
  readonly explained: boolean
}

function tablesOf(ddl: string): MarkedTable[] {
  const found = ddl.matchAll(/(^--.*\n)?^create table \{prefix\}(\w+) \((?:.*|\n[^]*?^)\)([^)]*?);$/gm)
  return [...found].map(([, comment = '', name = '', end = '']) => ({
    name,
    marks: [...end.matchAll(/\{(by \w+|lookup|global)\}/g)].map(([, mark = '']) => mark),
    explained: comment !== '' && !/^-- (version|postgres only|sqlite only|both)/.test(comment),
  }))
}

/** What is wrong with the marks of a table. */
function problems({ name, marks, explained }: MarkedTable): string[] {
  if (marks.length !== 1) return [`${name} must end with one of {by COLUMN}, {lookup} and {global}`]
  if (!marks[0]?.startsWith('by ') && !explained) return [`${name} must have its reason in a comment above`]
  return []
}

/** Every text of the packages that creates tables. */
const ddls = filesBelow('packages', '.ts')
  .filter(path => /^packages\/[^/]+\/src\//.test(path))
  .map(path => readFileSync(path, 'utf8'))
  .filter(text => /^create table \{prefix\}/m.test(text))

t.test('a table without a mark, with two, or with an unexplained one is found', async t => {
  const found = (text: string): string[] => tablesOf(text).flatMap(problems)
  const table = (name: string, end: string): string =>
    `create table {prefix}${name} (\n  id {id} primary key,\n  check (id <> '')\n) ${end};\n`
  t.same(found(table('a', '{by id}') + table('b', '{without rowid} {by id}')), [])
  t.same(found(`-- Why.\n${table('a', '{lookup}')}\n-- Why.\n${table('b', '{global}')}`), [])
  for (const end of ['', '{without rowid}', '{by id} {global}'])
    t.same(found(table('a', end)), ['a must end with one of {by COLUMN}, {lookup} and {global}'])
  for (const above of ['', '-- version 1\n', '-- both\n'])
    t.same(found(above + table('a', '{global}')), ['a must have its reason in a comment above'])
})

t.test('every table says which rows belong together', async t => {
  t.ok(ddls.length >= 9, 'the DDL was found')
  t.same(ddls.flatMap(tablesOf).flatMap(problems), [])
  const names = ddls.flatMap(tablesOf).map(({ name }) => name)
  t.equal(
    names.length,
    ddls.flatMap(text => [...text.matchAll(/^create table/gm)]).length,
    'all tables were read',
  )
})

/** Tables, without partitions: the column by which rows are divided, and the columns of what must be unique and of references. */
const CATALOGUE = `
  select c.relname as name, (select a.attname from pg_partitioned_table p
      join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0] where p.partrelid = c.oid) as by,
    (select coalesce(json_agg(json_build_object('name', o.conname, 'to', o.confrelid::regclass::text, 'columns',
      (select json_agg(a.attname) from pg_attribute a where a.attrelid = o.conrelid and a.attnum = any (o.conkey)))), '[]')
      from pg_constraint o where o.conrelid = c.oid and o.contype in ('p', 'u', 'f') and o.conparentid = 0) as constraints,
    (select coalesce(json_agg(json_build_object('name', i.indexrelid::regclass::text, 'columns',
      (select json_agg(a.attname) from pg_attribute a where a.attrelid = i.indrelid and a.attnum = any (i.indkey)))), '[]')
      from pg_index i where i.indrelid = c.oid and i.indisunique) as indexes
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname not in ('gw_migrations', 'gw_lock_rows')
  order by 1`

t.test(
  'Postgres divides each table of account data by its account, which all of its keys contain',
  async t => {
    const { connections, close } = await openPostgres(1, async () => {})
    t.teardown(close)
    const db: SqlClient = { ...(connections[0] as SqlClient), partitions: 2 }
    for (const migrate of [
      migrateNonces,
      migrateCredentials,
      migrateIdempotency,
      migrateSpends,
      migrateAliasUsage,
      migrateLedger,
      migrateHost,
    ])
      await migrate(db)
    const columns = new Map(
      ddls.flatMap(tablesOf).map(({ name, marks }) => [`gw_${name}`, /^by (.*)/.exec(marks[0] ?? '')?.[1]]),
    )
    for (const row of await rows(db, CATALOGUE)) {
      const name = String(row['name'])
      const column = columns.get(name)
      t.ok(columns.has(name), `${name} is in a DDL text that was found`)
      t.equal(row['by'] ?? undefined, column, `${name} is divided by its mark`)
      if (column === undefined) continue
      const keys = [...(row['constraints'] as Key[]), ...(row['indexes'] as Key[])]
      for (const key of keys) {
        t.ok(key.columns.includes(column), `${key.name} of ${name} contains ${column}`)
        if (key.to && key.to !== '-')
          t.ok(columns.get(key.to), `${key.name} refers to a table of account data`)
      }
    }
  },
)

interface Key {
  readonly name: string
  readonly columns: readonly string[]
  /** The table that a foreign key refers to. */
  readonly to?: string
}
