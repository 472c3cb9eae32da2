/**
 * Runs work that can end early without an error: `stop` throws, and the call resolves to the result that was given to it. The work must
 * let that error out. A transaction around a part of the work is rolled back by it.
 */
export async function stoppable<T>(work: (stop: (result: T) => never) => Promise<T>): Promise<T> {
  let stopped: { readonly result: T } | undefined
  const stop = (result: T): never => {
    stopped = { result }
    throw new Error('the work was stopped with a result: let this error out')
  }
  try {
    return await work(stop)
  } catch (error) {
    if (!stopped) throw error
    return stopped.result
  }
}
