import { Fault } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { Config } from '../config/config.ts'

/**
 * Refuses a database of another environment: a sandbox on live data would approve identity checks and create play money. A
 * database belongs to the environment of the first host or command that opened it. Fault: `ERR_STORE_UNAVAILABLE`.
 */
export async function checkEnvironment(
  sql: SqlQueries,
  { environment, databaseUrl }: Pick<Config, 'environment' | 'databaseUrl'>,
): Promise<void> {
  await rows(sql, 'insert into gw_environment (id, name) values (1, $1) on conflict do nothing', [
    environment,
  ])
  const [row] = await rows(sql, 'select name from gw_environment')
  const found = row?.['name']
  if (found === environment) return
  const elsewhere =
    databaseUrl === undefined ? 'DATA_DIR to another folder' : 'DATABASE_URL to another database'
  const cause = new Error(
    `it holds the data of a ${String(found)} host: set GATEWRIGHT_ENV=${String(found)}, or ${elsewhere}`,
  )
  throw new Fault('ERR_STORE_UNAVAILABLE', 'the database cannot be used', { cause })
}
