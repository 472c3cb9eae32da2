import type { Settings } from '../options.ts'
import { createReplayCache, type ReplayCache } from '../response/replay-cache.ts'
import type { IdempotencyStorage } from '../storage/port.ts'
import { createLocalRuns, type LocalRuns } from './local-runs.ts'
import { createWaitingPlaces, type WaitingPlaces } from './waiting-places.ts'

/** The state that all requests of one `createIdempotency` or `createTransactionalIdempotency` share. */
export interface Coordinator {
  readonly settings: Settings
  readonly storage: IdempotencyStorage
  readonly runs: LocalRuns
  readonly cache: ReplayCache
  /** The places of the requests of this process that wait for a run to end: `maxWaiters` in total. */
  readonly places: WaitingPlaces
}

/** Makes the shared state, without runs and with an empty cache. */
export function createCoordinator(settings: Settings, storage: IdempotencyStorage): Coordinator {
  return {
    settings,
    storage,
    runs: createLocalRuns(),
    cache: createReplayCache(settings.maxCachedBytes),
    places: createWaitingPlaces(settings.maxWaiters),
  }
}
