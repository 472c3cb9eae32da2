/** Work beside requests, done again and again. */
export interface Chore {
  readonly name: string
  /** From the end of one round to the start of the next, in ms. */
  readonly everyMs: number
  /** Whether its first round is due at once. */
  readonly atStart?: boolean
  /** One round. It may end early when `signal` aborts. */
  run(signal: AbortSignal): Promise<unknown>
}

/** Chores that go on until they are stopped. */
export interface RunningChores {
  /** Resolves when the first rounds that were due at once have ended, well or not. */
  readonly started: Promise<void>
  /** Starts no more rounds, asks those under way to end early, and resolves when they have. */
  stop(): Promise<void>
}

/**
 * Starts the chores, each by itself, one round at a time. A round that fails is reported and comes again. Every host of a
 * database may run the same ones.
 */
export function startChores(chores: readonly Chore[], report: (error: unknown) => void): RunningChores {
  const stopping = new AbortController()
  const timers = new Map<Chore, NodeJS.Timeout>()
  const rounds = new Map<Chore, Promise<void>>()
  const wait = (chore: Chore): void => {
    const timer = setTimeout(() => rounds.set(chore, round(chore)), chore.everyMs)
    timer.unref()
    timers.set(chore, timer)
  }
  const round = async (chore: Chore): Promise<void> => {
    await chore.run(stopping.signal).catch(report)
    if (!stopping.signal.aborted) wait(chore)
  }
  for (const chore of chores) {
    if (chore.atStart) rounds.set(chore, round(chore))
    else wait(chore)
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
