import { Fault } from '@gatewright/kernel'
import type { JWK } from 'jose'

/** For how long the failure of a fetch is repeated to further requests, in ms, so that an outage causes no flood of fetches. */
const FAILURE_MS = 1000

/** The keys that were loaded last. Times are of a monotonic clock. */
interface CachedKeys {
  keys(): readonly JWK[]
  /** The age of the keys; infinite before they are loaded. It counts from the start of their fetch. */
  ageMs(): number
  /**
   * Loads the keys. Calls made meanwhile share one fetch, and a failure is shared for `FAILURE_MS`. A fetch that has not ended
   * in its time is replaced, and the calls that wait for it get a fault: on Workers, the fetch and the timers of a request end
   * with that request, without a result.
   */
  load(): Promise<void>
  /** Begins to load the keys without waiting, at most once per `cooldownMs`. A failure leaves the keys as they are. */
  refresh(cooldownMs: number): void
}

/** Keeps the keys of one issuer. A fetch may take `maxLoadMs`; after that another one may take its place. */
export function createCachedKeys(fetchKeys: () => Promise<readonly JWK[]>, maxLoadMs: number): CachedKeys {
  let keys: readonly JWK[] = []
  let loadedAt = Number.NEGATIVE_INFINITY
  let triedAt = Number.NEGATIVE_INFINITY
  let failure: unknown
  let loading: { readonly startedAt: number; readonly done: Promise<void> } | undefined
  const begin = async (startedAt: number): Promise<void> => {
    triedAt = startedAt
    failure = undefined
    try {
      const found = await fetchKeys()
      // A fetch that was replaced, and ends after all, is older than what is known.
      if (startedAt < loadedAt) return
      keys = found
      loadedAt = startedAt
    } catch (error) {
      // Nor does it say anything about the fetch that took its place.
      if (loading?.startedAt === startedAt) {
        failure = error
        triedAt = performance.now()
      }
      throw error
    } finally {
      if (loading?.startedAt === startedAt) loading = undefined
    }
  }
  const isLoading = (): boolean => loading !== undefined && performance.now() - loading.startedAt < maxLoadMs
  const load = (): Promise<void> => {
    if (!loading || !isLoading()) {
      const startedAt = performance.now()
      loading = { startedAt, done: begin(startedAt) }
    }
    return untilReplaced(loading.done, maxLoadMs - (performance.now() - loading.startedAt))
  }
  return {
    keys: () => keys,
    ageMs: () => performance.now() - loadedAt,
    load: () =>
      failure !== undefined && performance.now() - triedAt < FAILURE_MS ? Promise.reject(failure) : load(),
    refresh(cooldownMs) {
      if (isLoading() || performance.now() - triedAt < cooldownMs) return
      // The keys are still in use; when they are too old, the error reaches the request that needs new ones.
      load().catch(() => {})
    },
  }
}

/** Waits for a fetch until another may take its place. Fault: `ERR_KEYS_UNAVAILABLE` if it has not ended then. */
function untilReplaced(done: Promise<void>, leftMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new Fault(
          'ERR_KEYS_UNAVAILABLE',
          'the keys of the issuer: the fetch that another request began did not end in time',
        ),
      )
    }, leftMs)
    // A timer of the request that waits, so it works where the request that began the fetch is gone.
    timer.unref?.()
    void done.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
