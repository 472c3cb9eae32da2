/** Counts the timers of one length that are started in this process, and those that have neither run nor been cleared. */
export function countTimers(ms: number): { started(): number; left(): number; restore(): void } {
  const { setTimeout, clearTimeout } = globalThis
  const waiting = new Set<unknown>()
  let started = 0
  const start = (run: (...given: unknown[]) => void, delay?: number, ...given: unknown[]): NodeJS.Timeout => {
    if (delay !== ms) return setTimeout(run, delay, ...given)
    const timer = setTimeout(() => {
      waiting.delete(timer)
      run(...given)
    }, delay)
    started += 1
    waiting.add(timer)
    return timer
  }
  const clear: typeof clearTimeout = timer => {
    waiting.delete(timer)
    clearTimeout(timer)
  }
  Object.assign(globalThis, { setTimeout: Object.assign(start, setTimeout), clearTimeout: clear })
  return {
    started: () => started,
    left: () => waiting.size,
    restore: () => void Object.assign(globalThis, { setTimeout, clearTimeout }),
  }
}
