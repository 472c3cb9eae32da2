/** A task that the host repeats in the background. */
export interface Chore {
  readonly name: string
  /** From the end of one round to the start of the next, in ms. */
  readonly everyMs: number
  /** Whether the first round starts immediately. */
  readonly atStart?: boolean
  /** Runs one round. It may end early when `signal` aborts. */
  run(signal: AbortSignal): Promise<unknown>
}

/** Chores that run until `stop`. */
export interface RunningChores {
  /** Resolves when all first rounds with `atStart` have ended, whether they succeeded or failed. */
  readonly started: Promise<void>
  /** Starts no further rounds, aborts the running ones, and resolves when they have ended. */
  stop(): Promise<void>
}

/**
 * Starts the chores. Each runs independently, one round at a time. A failed round is passed to `failed` and repeated
 * after the usual wait. All hosts of a database may run the same chores. Without `repeat` only the first rounds with `atStart`
 * run.
 */
export function startChores(
  chores: readonly Chore[],
  { repeat, failed }: { readonly repeat: boolean; readonly failed: (chore: string, error: unknown) => void },
): RunningChores {
  const stopping = new AbortController()
  const timers = new Map<Chore, NodeJS.Timeout>()
  const rounds = new Map<Chore, Promise<void>>()
  const wait = (chore: Chore): void => {
    const timer = setTimeout(() => rounds.set(chore, runRound(chore)), chore.everyMs)
    timer.unref()
    timers.set(chore, timer)
  }
  const runRound = async (chore: Chore): Promise<void> => {
    await chore.run(stopping.signal).catch((error: unknown) => failed(chore.name, error))
    if (repeat && !stopping.signal.aborted) wait(chore)
  }
  for (const chore of chores) {
    if (chore.atStart) rounds.set(chore, runRound(chore))
    else if (repeat) wait(chore)
  }
  const allRounds = async (): Promise<void> => {
    await Promise.all(rounds.values())
  }
  return {
    started: allRounds(),
    async stop() {
      stopping.abort()
      for (const timer of timers.values()) clearTimeout(timer)
      await allRounds()
    },
  }
}
