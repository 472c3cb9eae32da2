import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { isCitus, toInteger, toText } from '@gatewright/kernel/internal/sql'

/** A machine of Citus that has a part of the accounts, if it does not answer. */
interface LostWorker {
  /** `worker` and its number in `pg_dist_node`. */
  readonly name: string
  readonly cause: string
}

/** Which workers of a Citus answered, of those that may have shards. Another database has none. */
export interface Workers {
  /** The names of those that answered. */
  readonly working: readonly string[]
  readonly lost: readonly LostWorker[]
}

const ASK = `select n.nodeid as id, a.nodename as host, a.nodeport as port, a.success, a.result,
    (select count(*) from pg_dist_placement p join pg_dist_shard s using (shardid)
      where p.groupid = n.groupid and s.logicalrelid = 'gw_lock_rows'::regclass) as shards,
    (select count(*) from pg_dist_shard s where s.logicalrelid = 'gw_lock_rows'::regclass) as all_shards
  from run_command_on_workers('select 1') a join pg_dist_node n using (nodename, nodeport)
  where n.shouldhaveshards order by n.nodeid`

/** Asks each machine of a Citus for a reply. Faults: `ERR_STORE_*`, if the coordinator gives none. */
export async function askWorkers(db: SqlClient): Promise<Workers> {
  const found = (await isCitus(db)) ? await rows(db, ASK) : []
  const name = (row: (typeof found)[number]): string => `worker ${toInteger(row['id'])}`
  return {
    working: found.filter(row => row['success'] === true).map(name),
    lost: found
      .filter(row => row['success'] !== true)
      .map(row => ({
        name: name(row),
        cause: `${toText(row['host'])}:${toInteger(row['port'])} does not answer, so the accounts of ${toInteger(row['shards'])} of ${toInteger(row['all_shards'])} shards are not served: ${toText(row['result'])}`,
      })),
  }
}
