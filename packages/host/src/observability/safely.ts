/**
 * Makes a `report` or `observe` that never throws. Both are called where nothing handles a further failure, so that it would end the
 * process. What they throw becomes a warning of the process.
 */
export function safely<T>(call: (value: T) => void): (value: T) => void {
  const warn = (problem: unknown): void =>
    process.emitWarning(problem instanceof Error ? problem : String(problem))
  return value => {
    try {
      const result: unknown = call(value)
      if (result instanceof Promise) result.catch(warn)
    } catch (problem) {
      warn(problem)
    }
  }
}
