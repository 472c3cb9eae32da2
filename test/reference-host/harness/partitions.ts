import pg from 'pg'
import { ON_CITUS } from '../../harness/databases/citus.ts'
import { gatewright } from '../../harness/gatewright.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { dividedTables } from '../../harness/databases/table-marks.ts'
import { refusals, type PlanNode } from './citus-refusals.ts'

/** A statement as it was sent. */
export interface SentStatement {
  readonly text: string
  readonly values: readonly unknown[]
}

type Query = (this: pg.Client, statement: unknown, ...rest: unknown[]) => unknown

/** Records statements that this process sends to Postgres, by default those on our tables, until `stop` is called. */
export function recordStatements(matches = (text: string): boolean => text.includes('gw_')): {
  readonly sent: SentStatement[]
  stop(): void
} {
  const sent: SentStatement[] = []
  const real = pg.Client.prototype.query as unknown as Query
  pg.Client.prototype.query = function (statement, ...rest) {
    const given: Partial<SentStatement> & { readonly statements?: readonly SentStatement[] } =
      typeof statement === 'string'
        ? { text: statement, values: Array.isArray(rest[0]) ? rest[0] : [] }
        : (statement as SentStatement)
    for (const { text, values = [] } of given.statements ?? [given as SentStatement])
      if (matches(text)) sent.push({ text, values })
    return Reflect.apply(real, this, [statement, ...rest])
  } satisfies Query as unknown as typeof pg.Client.prototype.query
  return {
    sent,
    stop() {
      pg.Client.prototype.query = real as unknown as typeof pg.Client.prototype.query
    },
  }
}

/** Plans a statement with its values, without running it. Tables that a function reads are not in the plan. */
export async function planOf(pool: pg.Pool, { text, values }: SentStatement): Promise<PlanNode> {
  const { rows } = await pool.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
    `explain (format json) ${text}`,
    [...values],
  )
  return (rows[0] as { 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] })['QUERY PLAN'][0].Plan
}

/** Into how many partitions `divideTables` divides each table. */
export const PARTITIONS = 8

/**
 * Divides all tables but reference tables into native partitions, empty as they are after a migration. Postgres refuses a key that lacks the
 * column, and plans which partitions a statement looks at, as a database of several machines does.
 */
async function divideTables(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  try {
    const tables = [...dividedTables()]
    const { rows: foreign } = await client.query<{ name: string; definition: string }>(
      `select conrelid::regclass::text as name, pg_get_constraintdef(oid) as definition from pg_constraint
        where contype = 'f' and connamespace = current_schema()::regnamespace`,
    )
    for (const [name, column] of tables) {
      const { rows } = await client.query<{ made: string | null }>('select to_regclass($1)::text as made', [
        name,
      ])
      if (rows[0]?.made === null) continue
      await client.query(`alter table ${name} rename to ${name}_plain`)
      await client.query(
        `create table ${name} (like ${name}_plain including all) partition by hash (${column})`,
      )
      for (let part = 0; part < PARTITIONS; part++)
        await client.query(
          `create table ${name}_p${part}of${PARTITIONS} partition of ${name} for values with (modulus ${PARTITIONS}, remainder ${part})`,
        )
    }
    for (const { name, definition } of foreign)
      await client.query(
        `alter table ${name} add ${definition.replace(/(REFERENCES gw_\w+?)_plain\b/, '$1')}`,
      )
  } finally {
    client.release()
  }
}

/** A Postgres whose tables are divided, which a host takes for Citus without machines: it sends what it sends there. */
export interface DividedPostgres {
  /** The variables of a host or command on it. */
  readonly env: Readonly<Record<string, string>>
  readonly pool: pg.Pool
  close(): Promise<void>
}

/** Migrates an empty schema and divides its tables. On Citus they are distributed. */
export async function openDivided(): Promise<DividedPostgres> {
  const stores = await hostStoresEnv('postgres')
  const pool = new pg.Pool({ connectionString: stores.env['DATABASE_URL'], max: 1 })
  const migrated = await gatewright(['migrate'], stores.env)
  if (migrated.code !== 0) throw new Error(migrated.output)
  const close = async (): Promise<void> => {
    await pool.end()
    await stores.drop()
  }
  if (ON_CITUS) return { env: stores.env, pool, close }
  await divideTables(pool)
  await pool.query(`create table pg_extension as select 'citus' as extname;
    create table pg_dist_node (nodeid integer, groupid integer, nodename text, nodeport integer, shouldhaveshards boolean);
    create table pg_dist_partition (logicalrelid regclass, partmethod text, colocationid integer);
    create table pg_dist_placement (groupid integer, shardid bigint);
    create table pg_dist_shard (shardid bigint, logicalrelid regclass);
    create function run_command_on_workers(text) returns table (nodename text, nodeport integer, success boolean, result text)
      language sql as $$ select '', 0, true, '' where false $$`)
  const url = new URL(stores.env['DATABASE_URL'] as string)
  // In front of the catalogue, so that these tables hide those of the same names.
  url.searchParams.set('options', `${url.searchParams.get('options')},pg_catalog`)
  return {
    env: { ...stores.env, DATABASE_URL: url.href, MIGRATE: 'off' },
    pool,
    close,
  }
}

/** Returns the statements that Citus refuses, each once, with the reasons. On Citus none: it has refused them itself. */
export async function refusedStatements(
  pool: pg.Pool,
  sent: readonly SentStatement[],
): Promise<readonly string[]> {
  const refused: string[] = []
  if (ON_CITUS) return refused
  for (const [text, statement] of new Map(sent.map(each => [each.text, each]))) {
    if (!/^\s*(?:select|insert|update|delete|with)\b/.test(text)) continue
    const found = refusals(text, await planOf(pool, statement))
    if (found.length > 0) refused.push(`${found.join(', ')}: ${text.replaceAll(/\s+/g, ' ')}`)
  }
  return refused
}
