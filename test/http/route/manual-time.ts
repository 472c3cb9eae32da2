import type { Test } from 'tap'

/** Replaces the monotonic clock by one that this function moves. */
export function manualTime(t: Test): (ms: number) => void {
  let now = 5000
  performance.now = () => now
  t.teardown(() => Reflect.deleteProperty(performance, 'now'))
  return ms => void (now += ms)
}
