import type { EpochMs, Verdict } from '@gatewright/kernel'
import type { IdempotencyDenial } from '../codes.ts'
import type { Replay } from '../response/stored-response.ts'

/** The outcome of a run for its duplicates. Undefined: they have to ask the store. */
export type SharedOutcome = Verdict<Replay, IdempotencyDenial> | undefined

/** A write that this process is running, or is asking the store about. */
export interface LocalRun {
  readonly key: string
  readonly fingerprint: string
  /** From this instant on only the store knows what became of the run. */
  readonly leaseUntil: EpochMs
  /** The fence of the run, once it has started. */
  fence: number | undefined
  /** Created when the first duplicate waits, because most runs have no duplicate. */
  outcome:
    | {
        readonly promise: Promise<SharedOutcome>
        readonly resolve: (outcome: SharedOutcome | Promise<never>) => void
      }
    | undefined
}

/** The runs of this process, for which duplicates in the process wait without asking the store. */
export interface LocalRuns {
  /** Registers a run. Duplicates wait for the first one of their key whose lease has not ended. */
  open(run: LocalRun, now: EpochMs): void
  /** Returns the run of a key whose lease has not ended. */
  find(key: string, now: EpochMs): LocalRun | undefined
  /** Ends a run and gives its outcome to the waiting duplicates. */
  end(run: LocalRun, outcome?: SharedOutcome): void
  /** Ends the run with a fence, if it belongs to this process. */
  endClaimed(claim: { readonly storageKey: string; readonly fence: number }, outcome?: SharedOutcome): void
  /** Ends a run whose store call threw. Its duplicates get the same error. */
  fail(run: LocalRun, error: unknown): void
  /** Resolves with the outcome when the run ends; immediately if it has ended. */
  ended(run: LocalRun): Promise<SharedOutcome>
  /** Resolves when every run that is open now has ended. */
  drained(): Promise<void>
}

/** Makes an empty registry of runs. */
export function createLocalRuns(): LocalRuns {
  const byKey = new Map<string, LocalRun>()
  /** Runs that were opened while another run of their key was open: those of another payload. */
  const others = new Set<LocalRun>()

  /** Removes a run. Returns the outcome to resolve, if duplicates wait for it and the run was not removed before. */
  const close = (run: LocalRun): LocalRun['outcome'] => {
    const wasOpen = byKey.get(run.key) === run ? byKey.delete(run.key) : others.delete(run)
    return wasOpen ? run.outcome : undefined
  }
  /** Closes the runs whose lease has ended, oldest first, so that abandoned runs do not accumulate. */
  const closeExpired = (runs: Iterable<LocalRun>, now: EpochMs): void => {
    for (const run of runs) {
      if (now < run.leaseUntil) break
      close(run)?.resolve(undefined)
    }
  }
  const findClaimed = (key: string, fence: number): LocalRun | undefined => {
    const first = byKey.get(key)
    if (first?.fence === fence) return first
    for (const run of others) if (run.fence === fence && run.key === key) return run
    return undefined
  }
  const ended = async (run: LocalRun): Promise<SharedOutcome> => {
    if (byKey.get(run.key) !== run && !others.has(run)) return undefined
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
      closeExpired(others, now)
      const first = byKey.get(run.key)
      if (first && now < first.leaseUntil) {
        others.add(run)
        return
      }
      if (first) close(first)?.resolve(undefined)
      byKey.set(run.key, run)
    },
    find(key, now) {
      const run = byKey.get(key)
      return run && now < run.leaseUntil ? run : undefined
    },
    end: (run, outcome) => close(run)?.resolve(outcome),
    endClaimed({ storageKey, fence }, outcome) {
      const run = findClaimed(storageKey, fence)
      if (run) close(run)?.resolve(outcome)
    },
    fail: (run, error) => close(run)?.resolve(Promise.reject(error)),
    ended,
    async drained() {
      await Promise.allSettled([...byKey.values(), ...others].map(ended))
    },
  }
}
