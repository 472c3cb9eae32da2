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
}

/** The runs of this process, which duplicates in the same process wait for without asking the store. */
export interface LocalRuns {
  /** Enters a run. Duplicates wait for the first live one of their key. */
  open(run: LocalRun, now: EpochMs): void
  /** Notes that a run has started and ends later, by the holder of this fence. */
  claim(run: LocalRun, fence: number): void
  /** The live run of a key. */
  find(key: string, now: EpochMs): LocalRun | undefined
  /** The run that holds a fence. */
  claimed(key: string, fence: number): LocalRun | undefined
  /** Ends a run and tells those who wait for it. */
  end(run: LocalRun, settled?: Settled): void
  /** Ends a run whose attempt threw: so do those who wait for it, since a fault is not an answer. */
  fail(run: LocalRun, error: unknown): void
  /** Resolves when the run ends; at once when it has. */
  ended(run: LocalRun): Promise<Settled>
  /** Resolves when every run that is open now has ended. */
  drained(): Promise<void>
}

/** Made when somebody waits: most runs have no duplicate. */
interface Waited {
  readonly promise: Promise<Settled>
  readonly resolve: (settled: Settled | Promise<never>) => void
}

/** Makes an empty register of runs. */
export function localRuns(): LocalRuns {
  const byKey = new Map<string, LocalRun>()
  const open = new Map<LocalRun, Waited | undefined>()
  const byClaim = new Map<string, LocalRun>()
  const claimOf = new Map<LocalRun, string>()
  const close = (run: LocalRun, settled: () => Settled | Promise<never>): void => {
    if (byKey.get(run.key) === run) byKey.delete(run.key)
    open.get(run)?.resolve(settled())
    open.delete(run)
    byClaim.delete(claimOf.get(run) ?? '')
    claimOf.delete(run)
  }
  const ended = async (run: LocalRun): Promise<Settled> => {
    if (!open.has(run)) return undefined
    let waited = open.get(run)
    if (!waited) {
      let resolve: Waited['resolve'] = () => {}
      const promise = new Promise<Settled>(done => {
        resolve = done
      })
      waited = { promise, resolve }
      open.set(run, waited)
    }
    return waited.promise
  }
  return {
    open(run, now) {
      // Oldest first: runs that nobody ended are dropped here, so that they cannot pile up.
      for (const old of open.keys()) {
        if (now < old.leaseUntil) break
        close(old, () => undefined)
      }
      open.set(run, undefined)
      const first = byKey.get(run.key)
      if (!first || now >= first.leaseUntil) byKey.set(run.key, run)
    },
    claim(run, fence) {
      const claim = `${fence} ${run.key}`
      byClaim.set(claim, run)
      claimOf.set(run, claim)
    },
    find(key, now) {
      const run = byKey.get(key)
      return run && now < run.leaseUntil ? run : undefined
    },
    claimed: (key, fence) => byClaim.get(`${fence} ${key}`),
    end: (run, settled) => close(run, () => settled),
    fail: (run, error) => close(run, () => Promise.reject(error)),
    ended,
    async drained() {
      await Promise.allSettled([...open.keys()].map(ended))
    },
  }
}
