import type { EpochMs, Verdict } from '@gatewright/kernel'
import type { StoredAnswer } from './answer.ts'
import type { IdempotencyDenial } from './codes.ts'

/** A kept answer and until when it is replayed. */
export interface KeptAnswer {
  readonly answer: StoredAnswer
  readonly expiresAt: EpochMs
}

/** What a run came to, as far as it holds for its duplicates; undefined: they have to find out by themselves. */
export type Settled = Verdict<KeptAnswer, IdempotencyDenial> | undefined

/** The one request of this process that asks the store about a key, or runs it. */
export interface LocalRun {
  readonly key: string
  readonly fingerprint: string
  /** From this instant on only the store knows what became of the run. */
  readonly leaseUntil: EpochMs
  /** The fence it was started with, once it has. */
  fence: number | undefined
  /** Made when somebody waits: most runs have no duplicate. */
  waited: Waited | undefined
}

interface Waited {
  readonly promise: Promise<Settled>
  readonly resolve: (settled: Settled | Promise<never>) => void
}

/** The runs of this process, which duplicates in the same process wait for without asking the store. */
export interface LocalRuns {
  /** Enters a run. Duplicates wait for the first live one of their key. */
  open(run: LocalRun, now: EpochMs): void
  /** The live run of a key. */
  find(key: string, now: EpochMs): LocalRun | undefined
  /** Ends a run and tells those who wait for it. */
  end(run: LocalRun, settled?: Settled): void
  /** Ends the run that holds a fence, where it is one of this process. */
  endClaimed(claim: { readonly storageKey: string; readonly fence: number }, settled?: Settled): void
  /** Ends a run whose attempt threw: so do those who wait for it, since a fault is not an answer. */
  fail(run: LocalRun, error: unknown): void
  /** Resolves when the run ends; at once when it has. */
  ended(run: LocalRun): Promise<Settled>
  /** Resolves when every run that is open now has ended. */
  drained(): Promise<void>
}

/** Makes an empty register of runs. */
export function localRuns(): LocalRuns {
  const byKey = new Map<string, LocalRun>()
  /** Runs of a key that had another live one when they began: of another payload. */
  const others = new Set<LocalRun>()
  const isOpen = (run: LocalRun): boolean => byKey.get(run.key) === run || others.has(run)
  /** Takes a run out; says who waits for it, the first time. */
  const close = (run: LocalRun): Waited | undefined => {
    const open = byKey.get(run.key) === run ? byKey.delete(run.key) : others.delete(run)
    return open ? run.waited : undefined
  }
  /** Oldest first: runs that nobody ended are dropped, so that they cannot pile up. */
  const dropOver = (runs: Iterable<LocalRun>, now: EpochMs): void => {
    for (const old of runs) {
      if (now < old.leaseUntil) break
      close(old)?.resolve(undefined)
    }
  }
  const claimed = (key: string, fence: number): LocalRun | undefined => {
    const first = byKey.get(key)
    if (first?.fence === fence) return first
    // Another payload of the key came first, or the run is not of this process.
    for (const run of others) if (run.fence === fence && run.key === key) return run
    return undefined
  }
  const ended = async (run: LocalRun): Promise<Settled> => {
    if (!isOpen(run)) return undefined
    if (!run.waited) {
      let resolve: Waited['resolve'] = () => {}
      const promise = new Promise<Settled>(done => {
        resolve = done
      })
      run.waited = { promise, resolve }
    }
    return run.waited.promise
  }
  return {
    open(run, now) {
      dropOver(byKey.values(), now)
      dropOver(others, now)
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
    end: (run, settled) => close(run)?.resolve(settled),
    endClaimed({ storageKey, fence }, settled) {
      const run = claimed(storageKey, fence)
      if (run) close(run)?.resolve(settled)
    },
    fail: (run, error) => close(run)?.resolve(Promise.reject(error)),
    ended,
    async drained() {
      await Promise.allSettled([...byKey.values(), ...others].map(ended))
    },
  }
}
