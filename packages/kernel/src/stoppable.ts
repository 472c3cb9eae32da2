/** Ends work early. */
class Stop extends Error {
  /** Which calls of `stoppable` it ends. */
  readonly kind: object
  readonly result: unknown

  constructor(kind: object, result: unknown) {
    super('the work was stopped with a result: let this error out')
    this.kind = kind
    this.result = result
  }
}

/**
 * Runs work that can end early without an error: `stop` throws, and the call resolves to the result that was given to it. The work must
 * let that error out. A transaction around a part of the work is rolled back by it. Where several calls wait for one run and all get its
 * error, give them one `kind`: then all resolve to its result. Default: a kind of its own.
 */
export async function stoppable<T>(
  work: (stop: (result: T) => never) => Promise<T>,
  kind: object = {},
): Promise<T> {
  let stopped: Stop | undefined
  const stop = (result: T): never => {
    stopped = new Stop(kind, result)
    throw stopped
  }
  try {
    return await work(stop)
  } catch (error) {
    // A client of a database may have made another error of it.
    const found = stopped ?? (error instanceof Stop && error.kind === kind ? error : undefined)
    if (!found) throw error
    return found.result as T
  }
}
