import { Fault } from '@gatewright/kernel'
import { setBackgroundTimer } from '@gatewright/kernel/internal'
import type { JWK } from 'jose'

/** How long a failed fetch also fails further requests, in ms, so that an outage causes no flood of fetches. */
const FAILURE_MS = 1000

/** The keys that were loaded last. Times are of a monotonic clock. */
interface CachedKeys {
  keys(): readonly JWK[]
  /** The age of the keys; infinite before they are loaded. It counts from the start of their fetch. */
  ageMs(): number
  /**
   * Loads the keys. Calls made meanwhile share one fetch, and a failure is shared for `FAILURE_MS`. A fetch that takes longer
   * than its time limit is replaced, and the calls that wait for it get a fault. This happens on Workers, where the fetch and
   * the timers of a request end with that request, without a result.
   */
  load(): Promise<void>
  /** Begins to load the keys without waiting, at most once per `cooldownMs`. A failure leaves the keys as they are. */
  refresh(cooldownMs: number): void
}

/** Caches the keys of one issuer. A fetch that takes longer than `maxLoadMs` may be replaced by another. */
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
      // A replaced fetch that still ends is older than the known keys.
      if (startedAt < loadedAt) return
      keys = found
      loadedAt = startedAt
    } catch (error) {
      // Its failure says nothing about the fetch that replaced it.
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
      // Ignored, because the keys are still in use. Once they are too old, the request that loads them gets the error.
      load().catch(() => {})
    },
  }
}

/** Waits for a fetch until another may replace it. Fault: `ERR_KEYS_UNAVAILABLE` if it has not ended then. */
function untilReplaced(done: Promise<void>, leftMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // Each waiting request has a timer of its own: on Workers, a timer ends with the request that set it.
    const timer = setBackgroundTimer(() => {
      reject(
        new Fault(
          'ERR_KEYS_UNAVAILABLE',
          'the keys of the issuer: the fetch that another request began did not end in time',
        ),
      )
    }, leftMs)
    void done.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
