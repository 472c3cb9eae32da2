/** Calls a function after `ms`. Where the runtime lets a timer do so, it does not keep the process running. Returns the timer. */
export function setBackgroundTimer(run: () => void, ms: number): NodeJS.Timeout {
  const timer = setTimeout(run, ms)
  // Other runtimes than Node identify a timer by a number.
  timer.unref?.()
  return timer
}
