import type { EpochMs } from '@gatewright/kernel'
import type { StoredAnswer } from './answer.ts'
import type { Timer } from './timer.ts'

/** A kept answer and until when it is replayed. */
export interface KeptAnswer {
  readonly answer: StoredAnswer
  readonly expiresAt: EpochMs
}

/** A run of this process that has not ended. */
export interface LocalRun {
  readonly key: string
  readonly fingerprint: string
  /** Undefined for a transaction, whose fence nobody outside of it needs. */
  readonly fence?: number
  readonly leaseUntil: EpochMs
}

/** The runs of this process, which duplicates in the same process wait for without asking the store. */
export interface LocalRuns {
  /** Enters a run. It is the one that duplicates of its key wait for. */
  open(run: LocalRun, now: EpochMs): void
  /** The live run of a key. One whose lease is over is forgotten: only the store knows what became of it. */
  find(key: string, now: EpochMs): LocalRun | undefined
  /** Ends a run and tells those who wait for it the answer, where one was kept. */
  end(run: LocalRun, kept?: KeptAnswer): void
  /** Resolves with the kept answer when the run ends; at once when it has. */
  ended(run: LocalRun): Promise<KeptAnswer | undefined>
  /** Resolves when every run that is open now has ended. */
  drained(): Promise<void>
}

interface Entry {
  readonly promise: Promise<KeptAnswer | undefined>
  readonly resolve: (kept?: KeptAnswer) => void
}

/** Makes an empty register of runs. */
export function localRuns(): LocalRuns {
  const byKey = new Map<string, LocalRun>()
  const open = new Map<LocalRun, Entry>()
  const end = (run: LocalRun, kept?: KeptAnswer): void => {
    if (byKey.get(run.key) === run) byKey.delete(run.key)
    open.get(run)?.resolve(kept)
    open.delete(run)
  }
  return {
    open(run, now) {
      // Oldest first: runs that nobody ended are dropped here, so that they cannot pile up.
      for (const old of open.keys()) {
        if (now < old.leaseUntil) break
        end(old)
      }
      let resolve: Entry['resolve'] = () => {}
      const promise = new Promise<KeptAnswer | undefined>(done => {
        resolve = done
      })
      open.set(run, { promise, resolve })
      byKey.set(run.key, run)
    },
    find(key, now) {
      const run = byKey.get(key)
      return run && now < run.leaseUntil ? run : undefined
    },
    end,
    ended: async run => open.get(run)?.promise,
    async drained() {
      await Promise.all([...open.values()].map(entry => entry.promise))
    },
  }
}

/** Waits for `ended` or for `ms`, whichever is first. */
export async function waitFor<T>(
  timer: Timer,
  ms: number,
  ended: Promise<T | undefined> | undefined,
): Promise<T | undefined> {
  const stop = new AbortController()
  const slept = timer.sleep(ms, stop.signal).then(() => undefined)
  try {
    return await (ended ? Promise.race([ended, slept]) : slept)
  } finally {
    stop.abort()
  }
}
