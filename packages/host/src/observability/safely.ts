/**
 * Wraps a `report` or `observe` so that it never throws. Both are called where an error would be uncaught and end the process.
 * Their errors become process warnings.
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
