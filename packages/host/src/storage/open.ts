import { Fault } from '@gatewright/kernel'
import {
  IncompatibleTables,
  type Placement,
  type PlannedVersion,
  type TableMark,
} from '@gatewright/kernel/internal/sql'
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

type MigrateModules = DatabaseOptions['migrateModules']

/**
 * Opens the ledger's database (embedded in a locked data folder, or Postgres), migrates it and the tables of modules, and opens Redis if configured. Refuses
 * a database of another environment before it is migrated. With `MIGRATE=off` it migrates nothing, and refuses tables that miss a
 * version. Closes what is open when a later step fails. `queryMs` limits each statement on Postgres at
 * the client's side; default none, since a statement of an operator's command may take long.
 */
export async function openStores(
  config: HostConfig,
  migrateModules: MigrateModules,
  queryMs?: number,
): Promise<OpenStores> {
  const { backend, secrets, release } = await openLocked(config, migrateModules, queryMs)
  try {
    await assertEnvironment(backend.sql, config)
    if (config.migrate) await migrateTables(backend, config)
    else assertNoneMissing(await missingVersions(backend, config), ', and MIGRATE is off')
    await claimEnvironment(backend.sql, config)
    const stores = config.redis ? await overRedis(backend, config.redis) : backend
    return {
      backend: stores,
      secrets,
      close: async () => {
        await stores.close()
        release()
      },
    }
  } catch (error) {
    await backend.close()
    release()
    throw error
  }
}

/** Creates or updates the tables of a configuration's database, also with `MIGRATE=off`. Refuses a database of another environment. */
export async function migrateDatabase(config: HostConfig, migrateModules: MigrateModules): Promise<void> {
  const { close } = await openStores({ ...config, migrate: true, redis: undefined }, migrateModules)
  await close()
}

/** Returns the versions that the tables of a configuration's database miss, in the order in which they would be made. Writes nothing. */
export async function planDatabase(
  config: HostConfig,
  migrateModules: MigrateModules,
): Promise<readonly PlannedVersion[]> {
  const { backend, release } = await openLocked(config, migrateModules)
  try {
    await assertEnvironment(backend.sql, config)
    return await missingVersions(backend, config)
  } finally {
    await backend.close()
    release()
  }
}

/** How the tables are distributed. */
export interface DistributionRequest {
  /** Whether hosts write meanwhile. */
  readonly concurrently: boolean
  /** Takes the tables that are left, and says whether to distribute them. */
  readonly approve: (left: readonly Placement[]) => Promise<boolean>
  readonly progress: (text: string) => void
}

/**
 * Distributes the tables of a configuration's database on the machines of Citus, and returns those that were not distributed before. Refuses
 * an embedded database, one of another environment, and tables that miss a version. Repeatable. Faults: `ERR_STORE_*`.
 */
export async function distributeDatabase(
  config: HostConfig,
  migrateModules: MigrateModules,
  { concurrently, approve, progress }: DistributionRequest,
): Promise<readonly Placement[]> {
  if (config.databaseUrl === undefined)
    throw unusable('it is embedded, on one machine: set DATABASE_URL to the coordinator of Citus')
  const { backend, release } = await openLocked(config, migrateModules)
  try {
    await assertEnvironment(backend.sql, config)
    assertNoneMissing(await missingVersions(backend, config))
    const marks = new Map<string, TableMark>()
    const listMarks = (found: readonly TableMark[]): void => {
      for (const mark of found) {
        // Those that every migration lists go to the end: that of locks says that all others are done.
        marks.delete(mark.table)
        marks.set(mark.table, mark)
      }
    }
    const { migrateAll } = await import('./migrate-all.ts')
    const { distributeTables, plannedDistribution } = await import('./distribute.ts')
    await migrateAll({ ...backend.sql, listMarks }, migrateModules)
    let left: readonly Placement[] = []
    await backend.unlimited?.(async db => {
      left = await plannedDistribution(db, { marks: [...marks.values()], concurrently })
      if (await approve(left)) await distributeTables(db, left, progress)
    })
    return left
  } finally {
    await backend.close()
    release()
  }
}

/** An open database, and the function that frees the data folder after it was closed. */
interface LockedDatabase extends Pick<OpenStores, 'backend' | 'secrets'> {
  release(): void
}

/** Opens the database. An embedded one is locked first. */
async function openLocked(
  config: HostConfig,
  migrateModules: MigrateModules,
  queryMs?: number,
): Promise<LockedDatabase> {
  const lock = config.databaseUrl === undefined ? await lockOf(config.dataDir) : undefined
  try {
    const secrets = loadSecrets(config)
    const options = {
      migrateModules,
      prepare: config.databasePrepare,
      listenUrl: config.databaseListenUrl,
      queryMs,
    }
    const backend = await openDatabase(config, secrets, options)
    return { backend, secrets, release: () => lock?.release() }
  } catch (error) {
    lock?.release()
    throw error
  }
}

/** Migrates, or plans it. Where the tables are not those of this software, the fault also names the variable to set. */
async function migrateTables(
  backend: Backend,
  config: HostConfig,
  plan?: (version: PlannedVersion) => void,
): Promise<void> {
  try {
    await backend.migrate(plan)
  } catch (error) {
    if (!(error instanceof Fault && error.cause instanceof IncompatibleTables)) throw error
    throw unusable(`${error.cause.message} (set ${elsewhere(config)})`)
  }
}

async function missingVersions(backend: Backend, config: HostConfig): Promise<readonly PlannedVersion[]> {
  const missing: PlannedVersion[] = []
  await migrateTables(backend, config, version => missing.push(version))
  return missing
}

function assertNoneMissing(missing: readonly PlannedVersion[], also = ''): void {
  if (missing.length === 0) return
  const names = missing.map(({ namespace, version }) => `${namespace} ${version}`).join(', ')
  throw unusable(`its tables miss versions (${names})${also}: run npx gatewright migrate first`)
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
