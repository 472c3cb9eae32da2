import type { Verdict, EpochMs } from '@gatewright/kernel'
import type { IdempotencyDenial } from '../codes.ts'
import type { Replay } from '../response/stored-response.ts'

/** The outcome of a run for the requests that wait for it. Undefined: these requests have to ask the store. */
export type SharedOutcome = Verdict<Replay, IdempotencyDenial> | undefined

/** A write that this process runs, or whose state it is reading from the store. */
export interface LocalRun {
  readonly key: string
  readonly fingerprint: string
  /** The end of the lease. From then on another host may have taken over, so only the store knows the outcome. */
  leaseUntil: EpochMs
  /** The fencing token of the run; undefined until the store has started the run. */
  fence: number | undefined
  /** Created when the first duplicate request waits, because most runs have no duplicate. */
  outcome:
    | {
        readonly promise: Promise<SharedOutcome>
        readonly resolve: (outcome: SharedOutcome | Promise<never>) => void
      }
    | undefined
}

/** The runs of this process. A duplicate request in the same process waits for a run here, without asking the store. */
export interface LocalRunRegistry {
  /** Registers a run. If a run of the same key is open, `find` still returns that one until it or its lease ends. */
  open(run: LocalRun, now: EpochMs): void
  /** Returns the run of a key that duplicates wait for; undefined if no such run is in progress, or if its lease has ended. */
  find(key: string, now: EpochMs): LocalRun | undefined
  /** Ends a run and gives its outcome to the duplicates that wait. */
  end(run: LocalRun, outcome?: SharedOutcome): void
  /** Changes the fence and the end of the lease of the run with this key and fence, if it runs in this process. */
  renew(claim: ClaimedRun, fence: number, leaseUntil: EpochMs): void
  /** Returns the run that has this key and fence, if it runs in this process. */
  findClaimed(claim: ClaimedRun): LocalRun | undefined
  /** Ends the run that has this key and fence, if it runs in this process. */
  endClaimed(claim: ClaimedRun, outcome?: SharedOutcome): void
  /** Ends a run whose store call threw. Its duplicates get the same error. */
  fail(run: LocalRun, error: unknown): void
  /** Waits until a run has ended, and returns its outcome. For a run that has already ended, returns undefined immediately. */
  waitForEnd(run: LocalRun): Promise<SharedOutcome>
  /** Waits until all runs that are open now have ended, or `stop` resolves. Resolves to how many of these runs are still open. */
  drained(stop: Promise<unknown>): Promise<number>
}

/** The key and the fence of a run. */
interface ClaimedRun {
  readonly storageKey: string
  readonly fence: number
}

/** Makes an empty registry of runs. */
export function createLocalRunRegistry(): LocalRunRegistry {
  const byKey = new Map<string, LocalRun>()
  /** Runs that were opened while another run of the same key, with another payload, was open. */
  const conflicting = new Set<LocalRun>()

  /** Removes a run. Returns the promise to resolve if duplicates wait; undefined if none do, or if the run was removed before. */
  const close = (run: LocalRun): LocalRun['outcome'] => {
    const wasOpen = byKey.get(run.key) === run ? byKey.delete(run.key) : conflicting.delete(run)
    return wasOpen ? run.outcome : undefined
  }
  /**
   * Removes the runs whose lease has ended, so that abandoned runs do not accumulate. Stops at the first that is live: the
   * oldest come first.
   */
  const closeExpired = (runs: Iterable<LocalRun>, now: EpochMs): void => {
    for (const run of runs) {
      if (now < run.leaseUntil) break
      close(run)?.resolve(undefined)
    }
  }
  const findClaimed = (key: string, fence: number): LocalRun | undefined => {
    const first = byKey.get(key)
    if (first?.fence === fence) return first
    for (const run of conflicting) if (run.fence === fence && run.key === key) return run
    return undefined
  }
  const waitForEnd = async (run: LocalRun): Promise<SharedOutcome> => {
    if (byKey.get(run.key) !== run && !conflicting.has(run)) return undefined
    if (!run.outcome) {
      let resolve: NonNullable<LocalRun['outcome']>['resolve'] = () => {}
      const promise = new Promise<SharedOutcome>(resolvePromise => {
        resolve = resolvePromise
      })
      run.outcome = { promise, resolve }
    }
    return run.outcome.promise
  }

  return {
    open(run, now) {
      closeExpired(byKey.values(), now)
      closeExpired(conflicting, now)
      const first = byKey.get(run.key)
      if (first && now < first.leaseUntil) {
        conflicting.add(run)
        return
      }
      if (first) close(first)?.resolve(undefined)
      byKey.set(run.key, run)
    },
    find(key, now) {
      const run = byKey.get(key)
      return run && now < run.leaseUntil ? run : undefined
    },
    renew({ storageKey, fence }, newFence, leaseUntil) {
      const run = findClaimed(storageKey, fence)
      if (!run) return
      run.fence = newFence
      run.leaseUntil = leaseUntil
      // Inserted again at the end, so that the oldest runs still come first.
      const runs = byKey.get(run.key) === run ? byKey : undefined
      if (runs?.delete(run.key)) runs.set(run.key, run)
      else if (conflicting.delete(run)) conflicting.add(run)
    },
    end: (run, outcome) => close(run)?.resolve(outcome),
    findClaimed: ({ storageKey, fence }) => findClaimed(storageKey, fence),
    endClaimed({ storageKey, fence }, outcome) {
      const run = findClaimed(storageKey, fence)
      if (run) close(run)?.resolve(outcome)
    },
    fail: (run, error) => close(run)?.resolve(Promise.reject(error)),
    waitForEnd,
    async drained(stop) {
      const open = new Set([...byKey.values(), ...conflicting])
      const ended = [...open].map(run => waitForEnd(run).finally(() => open.delete(run)))
      await Promise.race([Promise.allSettled(ended), stop])
      return open.size
    },
  }
}
