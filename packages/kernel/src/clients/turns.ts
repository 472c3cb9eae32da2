/** Makes a function that runs one call after the other, in the order of the calls. */
export function createTurns(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return run => {
    const result = last.then(run)
    last = result.catch(() => {})
    return result
  }
}
