// A version of the tables must let software of the release before go on, and must not block it: squawk finds what would not, in every
// version but the first of its namespace (docs/upgrades.md).
import { spawnSync } from 'node:child_process'
import { migrateLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateIdempotency } from '@gatewright/idempotency-store/postgres'
import type { PlannedVersion } from '@gatewright/kernel/internal/sql'
import { migrate, type SqlClient } from '@gatewright/kernel/sql'
import { migrateAliasUsage } from '@gatewright/legacy-alias-router/postgres'
import { migrateHost } from '#packages/reference-host/dist/product/migrate.js'
import { migrateSpends } from '@gatewright/scope-guard/postgres'
import { migrateCredentials } from '@gatewright/session-issuer/postgres'
import { migrateNonces } from '@gatewright/signature-verifier/postgres'
import t from 'tap'

/** Not for us: `migrate` sets the limits, and its transaction makes repeated statements unnecessary. */
const EXCLUDED = ['require-lock-timeout', 'require-statement-timeout', 'prefer-robust-stmts']
/** What a contraction may do: its `least` keeps the software away that it would break. */
const OF_CONTRACTIONS = ['ban-drop-column', 'ban-drop-table', 'renaming-column', 'renaming-table']

/** Returns every version that a migration makes on an empty Postgres. */
async function versionsOf(
  migrations: readonly ((db: SqlClient) => Promise<void>)[],
): Promise<readonly PlannedVersion[]> {
  const planned: PlannedVersion[] = []
  const db: SqlClient = {
    dialect: 'postgres',
    query: async () => ({ rows: [] }),
    transaction: () => Promise.reject(new Error('a plan needs no transaction')),
    planMigration: version => planned.push(version),
  }
  for (const each of migrations) await each(db)
  return planned
}

/** The rules that squawk finds broken in the versions of one namespace, in order. */
function brokenRules(versions: readonly PlannedVersion[]): string[] {
  return versions.slice(1).flatMap(({ statements, least }, index) => {
    const contracts = least > (versions[index]?.least ?? 1)
    const excluded = contracts ? [...EXCLUDED, ...OF_CONTRACTIONS] : EXCLUDED
    const sql = statements
      .filter(statement => !/^create (?:unique )?index if not exists /i.test(statement.trim()))
      .map(statement => `${statement.trim().replace(/;$/, '')};`)
    const flags = [
      '--assume-in-transaction',
      '--pg-version=15.0',
      '--reporter=json',
      `--exclude=${excluded.join()}`,
    ]
    const { stdout, stderr, error } = spawnSync('node_modules/.bin/squawk', flags, {
      input: sql.join('\n'),
      encoding: 'utf8',
    })
    if (error) throw error
    if (!stdout.startsWith('[')) throw new Error(`squawk: ${stdout}${stderr}`)
    return (JSON.parse(stdout) as { rule_name: string }[]).map(found => found.rule_name)
  })
}

const notes = (...versions: readonly string[]) =>
  versionsOf([
    db =>
      migrate(db, {
        namespace: 'notes',
        ddl: ['-- version 1\ncreate table {prefix}notes (id {id} primary key);', ...versions].join('\n'),
      }),
  ])

t.test('accepts what software of the release before can work with', async t => {
  const expanded = `-- version 2
alter table {prefix}notes add column body text;

alter table {prefix}notes add column kind {id} not null default '';

create table {prefix}more (id {id} primary key);

create index {prefix}more_id on {prefix}more (id);

create index if not exists {prefix}notes_body on {prefix}notes (body);`
  t.same(
    brokenRules(await notes(expanded, '-- version 3, least 2\nalter table {prefix}notes drop column body;')),
    [],
  )
})

t.test(
  'finds what software of the release before could not work with, and what blocks its writers',
  async t => {
    const broken = {
      'adding-required-field': 'add column body text not null',
      'changing-column-type': 'alter column id type bytea',
      'ban-drop-column': 'drop column body',
      'renaming-column': 'rename column body to text',
      'constraint-missing-not-valid': 'add constraint some check (id > 1)',
    }
    const statements = Object.values(broken).map(change => `alter table {prefix}notes ${change};`)
    const index = 'create index {prefix}notes_id on {prefix}notes (id);'
    t.same(brokenRules(await notes(['-- version 2', ...statements, index].join('\n\n'))), [
      ...Object.keys(broken),
      'require-concurrent-index-creation',
    ])
  },
)

t.test('every version of the tables follows the rule', async t => {
  const all = await versionsOf([
    migrateNonces,
    migrateCredentials,
    migrateIdempotency,
    migrateSpends,
    migrateAliasUsage,
    migrateHost,
    migrateLedger,
  ])
  const namespaces = [...new Set(all.map(({ namespace }) => namespace))]
  t.ok(namespaces.length >= 8, namespaces.join())
  for (const name of namespaces)
    t.same(brokenRules(all.filter(({ namespace }) => namespace === name)), [], name)
})
