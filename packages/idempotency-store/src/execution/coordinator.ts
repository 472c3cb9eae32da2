import type { Settings } from '../options.ts'
import { createReplayCache, type ReplayCache } from '../response/replay-cache.ts'
import type { IdempotencyStorage } from '../storage/port.ts'
import { createLocalRunRegistry, type LocalRunRegistry } from './local-runs.ts'
import { createWaitingPlacePool, type WaitingPlacePool } from './waiting-places.ts'

/** The state that all requests of one `createIdempotency` or `createTransactionalIdempotency` share. */
export interface Coordinator {
  readonly settings: Settings
  readonly storage: IdempotencyStorage
  readonly runs: LocalRunRegistry
  readonly cache: ReplayCache
  /** The places of the requests of this process that wait for a run to end: `maxWaiters` in total. */
  readonly places: WaitingPlacePool
}

/** Makes the shared state, without runs and with an empty cache. `storage` encrypts responses itself, if they are encrypted. */
export function createCoordinator(settings: Settings, storage: IdempotencyStorage): Coordinator {
  return {
    settings,
    storage,
    runs: createLocalRunRegistry(),
    cache: createReplayCache(settings.maxCachedBytes),
    places: createWaitingPlacePool(settings.maxWaiters),
  }
}
