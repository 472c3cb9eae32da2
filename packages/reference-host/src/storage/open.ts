import type { Config } from '../config/config.ts'
import type { Backend } from './backend.ts'
import { lockDataDir } from './data-dir.ts'
import { embeddedBackend } from './embedded.ts'
import { postgresBackend } from './postgres.ts'
import { withRedis } from './redis.ts'
import { loadSecrets, type Secrets } from './secrets.ts'

/** The stores that the configuration names, ready to use. */
export interface OpenStores {
  readonly backend: Backend
  readonly secrets: Secrets
  close(): Promise<void>
}

/**
 * Opens the ledger's database (embedded in a locked data folder, or Postgres) and Redis where it is configured. What was
 * opened is closed again when a later step fails.
 */
export async function openStores(config: Config): Promise<OpenStores> {
  const lock = config.databaseUrl === undefined ? lockDataDir(config.dataDir) : undefined
  let backend: Backend | undefined
  try {
    const secrets = loadSecrets(config)
    const { databaseUrl, dataDir, redis } = config
    backend = await (databaseUrl === undefined
      ? embeddedBackend(dataDir, secrets)
      : postgresBackend(databaseUrl, secrets))
    const stores = redis ? await withRedis(backend, redis) : backend
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
