import { Fault } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { HostConfig } from '../config/host-config.ts'
import { hostDialect, type HostDialect } from '../records/host-dialect.ts'

const EXISTS: Readonly<Record<HostDialect, string>> = {
  postgres: 'select 1 where to_regclass($1) is not null',
  sqlite: "select 1 from sqlite_master where type = 'table' and name = $1",
}

type EnvironmentConfig = Pick<HostConfig, 'environment' | 'databaseUrl'>

/**
 * Throws for a database of another environment. Call it before the migration: a sandbox on live data would approve identity
 * checks and create play money. Fault: `ERR_STORE_UNAVAILABLE`.
 */
export async function assertEnvironment(sql: SqlQueries, config: EnvironmentConfig): Promise<void> {
  const exists = (await rows(sql, EXISTS[hostDialect(sql)], ['gw_environment'])).length > 0
  const found = exists ? await nameOf(sql) : undefined
  refuseOther(found ?? config.environment, config)
}

/**
 * Records the environment of the first host or command that opens a new database. Throws if one of another environment was
 * faster. Fault: `ERR_STORE_UNAVAILABLE`.
 */
export async function claimEnvironment(sql: SqlQueries, config: EnvironmentConfig): Promise<void> {
  if ((await nameOf(sql)) === undefined)
    await rows(sql, 'insert into gw_environment (id, name) values (1, $1) on conflict do nothing', [
      config.environment,
    ])
  refuseOther(await nameOf(sql), config)
}

async function nameOf(sql: SqlQueries): Promise<unknown> {
  return (await rows(sql, 'select name from gw_environment'))[0]?.['name']
}

function refuseOther(found: unknown, { environment, databaseUrl }: EnvironmentConfig): void {
  if (found === environment) return
  throw unusable(
    `it holds the data of a ${String(found)} host: set GATEWRIGHT_ENV=${String(found)}, or ${elsewhere({ databaseUrl })}`,
  )
}

/** What an operator sets to use another database, and to what. */
export function elsewhere({ databaseUrl }: Pick<HostConfig, 'databaseUrl'>): string {
  return databaseUrl === undefined ? 'DATA_DIR to another folder' : 'DATABASE_URL to another database'
}

/** Makes the fault for a database that this host must not use. */
export function unusable(reason: string): Fault {
  return new Fault('ERR_STORE_UNAVAILABLE', 'the database cannot be used', { cause: new Error(reason) })
}
