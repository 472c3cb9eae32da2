import { Fault } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import { IncompatibleTables } from '@gatewright/kernel/internal/sql'
import type { HostConfig } from '../config/host-config.ts'
import type { Backend, DatabaseOptions } from './backend.ts'
import { assertEnvironment, claimEnvironment, elsewhere, unusable } from './environment.ts'
import { loadSecrets, type Secrets } from './secrets.ts'

/** The open stores of a host. */
export interface OpenStores {
  readonly backend: Backend
  readonly secrets: Secrets
  close(): Promise<void>
}

/**
 * Opens the ledger's database (embedded in a locked data folder, or Postgres), migrates it and the tables of modules, and opens Redis if configured. Refuses
 * a database of another environment before it is migrated. Closes what is open when a later step fails. `queryMs` limits each statement on Postgres at
 * the client's side; default none, since a statement of an operator's command may take long.
 */
export async function openStores(
  config: HostConfig,
  migrateModules: (db: SqlClient) => Promise<void>,
  queryMs?: number,
): Promise<OpenStores> {
  const lock = config.databaseUrl === undefined ? await lockOf(config.dataDir) : undefined
  let backend: Backend | undefined
  try {
    const secrets = loadSecrets(config)
    const { databasePartitions: partitions, databaseFeatures: features } = config
    const options = { migrateModules, partitions, features, queryMs }
    backend = await openDatabase(config, secrets, options)
    await assertEnvironment(backend.sql, config)
    await migrateTables(backend, config)
    await claimEnvironment(backend.sql, config)
    const stores = config.redis ? await overRedis(backend, config.redis) : backend
    return {
      backend: stores,
      secrets,
      close: async () => {
        await stores.close()
        lock?.release()
      },
    }
  } catch (error) {
    await backend?.close()
    lock?.release()
    throw error
  }
}

/** Migrates. Where the tables are not those of this software, the fault also names the variable to set. */
async function migrateTables(backend: Backend, config: HostConfig): Promise<void> {
  try {
    await backend.migrate()
  } catch (error) {
    if (!(error instanceof Fault && error.cause instanceof IncompatibleTables)) throw error
    throw unusable(`${error.cause.message} (set ${elsewhere(config)})`)
  }
}

// Each store is imported only when it is used: loading the other clients would be a third of the work of a
// start.

async function lockOf(dataDir: string): Promise<{ release(): void }> {
  const { lockDataDir } = await import('./data-dir.ts').catch((error: unknown) => {
    throw isWithoutLibsql(error) ? unusable(LIBSQL_IS_MISSING) : error
  })
  return lockDataDir(dataDir)
}

const LIBSQL_IS_MISSING =
  'the embedded database needs the optional dependency libsql, which is not installed (set DATABASE_URL to use Postgres)'

/** Whether an import failed because `libsql`, or its program for this platform, is not installed. */
function isWithoutLibsql(error: unknown): boolean {
  const { code, message = '' } = error as { readonly code?: string; readonly message?: string }
  return /^(?:ERR_)?MODULE_NOT_FOUND$/.test(code ?? '') && message.includes('libsql')
}

async function openDatabase(
  { databaseUrl, dataDir }: HostConfig,
  secrets: Secrets,
  options: DatabaseOptions,
): Promise<Backend> {
  if (databaseUrl === undefined)
    return (await import('./embedded.ts')).embeddedBackend(dataDir, secrets, options)
  return (await import('./postgres.ts')).postgresBackend(databaseUrl, secrets, options)
}

async function overRedis(backend: Backend, target: NonNullable<HostConfig['redis']>): Promise<Backend> {
  return (await import('./redis.ts')).withRedis(backend, target)
}
