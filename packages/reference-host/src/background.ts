/** Work beside requests, done again and again. */
export interface Chore {
  readonly name: string
  /** Whether a first round is due before the host serves. A failure does not keep it from starting. */
  readonly atStart?: boolean
  /** From the end of one round to the start of the next, in ms. */
  readonly everyMs: number
  run(): Promise<unknown>
}

/**
 * Starts the chores, each by itself, one round at a time. A round that fails is reported and comes again. Every host of a
 * database may run the same ones. The returned function stops them, and resolves when the rounds under way have ended.
 */
export function startChores(chores: readonly Chore[], report: (error: unknown) => void): () => Promise<void> {
  const stops = chores.map(({ everyMs, run }) => {
    let stopped = false
    let round: Promise<unknown> = Promise.resolve()
    let timer: NodeJS.Timeout
    const once = async (): Promise<void> => {
      await run().catch(report)
      if (!stopped) wait()
    }
    const wait = (): void => {
      timer = setTimeout(() => {
        round = once()
      }, everyMs)
      timer.unref()
    }
    wait()
    return async () => {
      stopped = true
      clearTimeout(timer)
      await round
    }
  })
  return async () => {
    await Promise.all(stops.map(stop => stop()))
  }
}
