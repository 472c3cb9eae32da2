import { Fault } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { Config } from '../config/config.ts'

const hasKeyOf = (environment: string): string =>
  `exists (select 1 from gw_keys where record like '%"prefix":"gw_${environment}_%')`

/** Names a database that no host has named. One of an earlier version is named after its keys, whoever opens it first. */
const NAME = `insert into gw_environment (id, name)
  select 1, case when ${hasKeyOf('live')} then 'live' when ${hasKeyOf('sandbox')} then 'sandbox' else $1 end
  on conflict do nothing`

/**
 * Refuses a database of another environment: a sandbox on live data would approve identity checks and create play money. A
 * database belongs to the environment of the first host or command that opened it. Fault: `ERR_STORE_UNAVAILABLE`.
 */
export async function checkEnvironment(
  sql: SqlQueries,
  { environment, databaseUrl }: Pick<Config, 'environment' | 'databaseUrl'>,
): Promise<void> {
  const nameOf = async (): Promise<unknown> =>
    (await rows(sql, 'select name from gw_environment'))[0]?.['name']
  if ((await nameOf()) === undefined) await rows(sql, NAME, [environment])
  const found = await nameOf()
  if (found === environment) return
  const elsewhere =
    databaseUrl === undefined ? 'DATA_DIR to another folder' : 'DATABASE_URL to another database'
  const cause = new Error(
    `it holds the data of a ${String(found)} host: set GATEWRIGHT_ENV=${String(found)}, or ${elsewhere}`,
  )
  throw new Fault('ERR_STORE_UNAVAILABLE', 'the database cannot be used', { cause })
}
