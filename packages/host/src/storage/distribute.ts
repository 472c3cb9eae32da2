import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { distribute, isCitus, toInteger, toText, undistributed } from '@gatewright/kernel/internal/sql'
import type { Placement, TableMark } from '@gatewright/kernel/internal/sql'
import { unusable } from './environment.ts'

/** A host writes a heartbeat every five seconds. */
const RUNS_MS = 15_000

/** Which tables are to be distributed, and how. */
export interface Distribution {
  /** All tables, each in front of those that refer to it. */
  readonly marks: readonly TableMark[]
  /** Whether hosts write meanwhile. */
  readonly concurrently: boolean
}

/**
 * Checks that this role can distribute the tables on the machines of this database, and returns those that are not yet, in order. Faults:
 * `ERR_STORE_UNAVAILABLE`, with the reason as its cause.
 */
export async function plannedDistribution(
  db: SqlClient,
  { marks, concurrently }: Distribution,
): Promise<readonly Placement[]> {
  if (!(await isCitus(db)))
    throw unusable('it lacks the extension citus: run "create extension citus" on each machine')
  const [place] = await rows(
    db,
    `select citus_is_coordinator() as coordinator,
      (select count(*) from pg_dist_node where isactive and shouldhaveshards and noderole = 'primary') as machines`,
  )
  if (place?.['coordinator'] !== true)
    throw unusable('it is a worker of Citus: let DATABASE_URL lead to the coordinator')
  if (toInteger(place['machines']) === 0)
    throw unusable('no machine may have shards: add one with citus_add_node')
  const others = await rows(
    db,
    `select cast(relname as text) as name from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r' and not pg_has_role(relowner, 'usage')`,
  )
  const owned = new Set(marks.map(({ table }) => table))
  const foreign = others.map(row => toText(row['name'])).filter(name => owned.has(name))
  if (foreign.length > 0)
    throw unusable(`its tables belong to another role, such as ${foreign[0]}: use the role that migrates`)
  const left = await undistributed(db, marks)
  if (!concurrently) {
    if (left.length > 0) await assertNoneWrites(db)
    return left
  }
  const linked = await linkedTables(db)
  return left.map(mark => ({ ...mark, concurrently: !linked.has(mark.table) }))
}

/** Distributes tables, one after the other. Each is a transaction of its own, so an interrupted call can be repeated. Faults: `ERR_STORE_*`. */
export async function distributeTables(
  db: SqlClient,
  left: readonly Placement[],
  progress: (text: string) => void,
): Promise<void> {
  for (const [index, placement] of left.entries()) {
    progress(`${index + 1} of ${left.length}: ${placement.table}`)
    await distribute(db, placement)
  }
}

/** Returns the tables that refer to another, or are referred to. */
async function linkedTables(db: SqlClient): Promise<ReadonlySet<string>> {
  const found = await rows(
    db,
    `select cast(c.relname as text) as name from pg_class c join pg_constraint o on c.oid in (o.conrelid, o.confrelid)
      where o.contype = 'f' and c.relnamespace = current_schema()::regnamespace`,
  )
  return new Set(found.map(row => toText(row['name'])))
}

/** Throws while hosts run: their writes would wait for each table that is copied, and fail. */
async function assertNoneWrites(db: SqlClient): Promise<void> {
  const [row] = await rows(
    db,
    'select count(*) as hosts from gw_heartbeats where at > (extract(epoch from clock_timestamp()) * 1000)::bigint - $1',
    [RUNS_MS],
  )
  const hosts = toInteger(row?.['hosts'])
  if (hosts > 0)
    throw unusable(
      `${hosts === 1 ? 'a host has' : `${hosts} hosts have`} written in the last ${RUNS_MS / 1000} seconds: stop them, or use --concurrently`,
    )
}
