// Which rows may be where on a database of several machines: every table of the DDL says it by a mark, and Postgres checks it.
import { migrateLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateIdempotency } from '@gatewright/idempotency-store/postgres'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { migrateAliasUsage } from '@gatewright/legacy-alias-router/postgres'
import { migrateHost } from '#packages/reference-host/dist/product/migrate.js'
import { migrateSpends } from '@gatewright/scope-guard/postgres'
import { migrateCredentials } from '@gatewright/session-issuer/postgres'
import { migrateNonces } from '@gatewright/signature-verifier/postgres'
import t from 'tap'
import { openPostgres } from '../harness/stores.ts'
import { ddls, dividedTables, tablesOf, type MarkedTable } from '../harness/databases/table-marks.ts'

/** What is wrong with the marks of a table. */
function problems({ name, marks, explained }: MarkedTable): string[] {
  if (marks.length !== 1)
    return [`${name} must end with one of {by COLUMN}, {lookup by COLUMN} and {reference}`]
  if (!marks[0]?.startsWith('by ') && !explained) return [`${name} must have its reason in a comment above`]
  return []
}

t.test('a table without a mark, with two, or with an unexplained one is found', async t => {
  const found = (text: string): string[] => tablesOf(text).flatMap(problems)
  const table = (name: string, end: string): string =>
    `create table {prefix}${name} (\n  id {id} primary key,\n  check (id <> '')\n) ${end};\n`
  t.same(found(table('a', '{by id}') + table('b', '{without rowid} {by id}')), [])
  t.same(found(`-- Why.\n${table('a', '{lookup by id}')}\n-- Why.\n${table('b', '{reference}')}`), [])
  for (const end of ['', '{without rowid}', '{by id} {reference}'])
    t.same(found(table('a', end)), ['a must end with one of {by COLUMN}, {lookup by COLUMN} and {reference}'])
  for (const above of ['', '-- version 1\n', '-- both\n'])
    t.same(found(above + table('a', '{reference}')), ['a must have its reason in a comment above'])
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

/** Tables, with the columns of what must be unique and of references. */
const CATALOGUE = `
  select c.relname as name,
    (select coalesce(json_agg(json_build_object('name', o.conname, 'to', o.confrelid::regclass::text, 'columns',
      (select json_agg(a.attname) from pg_attribute a where a.attrelid = o.conrelid and a.attnum = any (o.conkey)))), '[]')
      from pg_constraint o where o.conrelid = c.oid and o.contype in ('p', 'u', 'f')) as constraints,
    (select coalesce(json_agg(json_build_object('name', i.indexrelid::regclass::text, 'columns',
      (select json_agg(a.attname) from pg_attribute a where a.attrelid = i.indrelid and a.attnum = any (i.indkey)))), '[]')
      from pg_index i where i.indrelid = c.oid and i.indisunique) as indexes
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
    and c.relname not in ('gw_migrations', 'gw_lock_rows')
  order by 1`

t.test('all keys of a divided table contain the column by which it is divided', async t => {
  const { connections, close } = await openPostgres(1, async db => {
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
  })
  t.teardown(close)
  const names = new Set(ddls.flatMap(tablesOf).map(({ name }) => `gw_${name}`))
  const columns = dividedTables()
  const byAccount = dividedTables(/^by (\w+)$/)
  for (const row of await rows(connections[0] as SqlClient, CATALOGUE)) {
    const name = String(row['name'])
    t.ok(names.has(name), `${name} is in a DDL text that was found`)
    const column = columns.get(name)
    if (column === undefined) continue
    for (const key of [...(row['constraints'] as Key[]), ...(row['indexes'] as Key[])]) {
      t.ok(key.columns.includes(column), `${key.name} of ${name} contains ${column}`)
      if (key.to && key.to !== '-')
        t.ok(byAccount.get(key.to), `${key.name} refers to a table of account data`)
    }
  }
})

interface Key {
  readonly name: string
  readonly columns: readonly string[]
  /** The table that a foreign key refers to. */
  readonly to?: string
}
