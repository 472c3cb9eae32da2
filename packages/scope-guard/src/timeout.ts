import { Fault, orFault } from '@gatewright/kernel'
import { nextTurn } from '@gatewright/kernel/internal/platform'

/**
 * Runs a store call for at most `ms`. A call that throws or takes longer is a fault. Whether a late call took effect is
 * unknown, as after a lost connection. A reply that had arrived by then counts, even if the process was too busy to read it in time.
 */
export async function withinTime<T>(store: string, ms: number, call: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const end = (): void =>
      reject(new Fault('ERR_STORE_UNAVAILABLE', `${store} did not reply within ${ms} ms`))
    // Timers run before the event loop reads sockets.
    timer = setTimeout(() => {
      if (!nextTurn(end)) end()
    }, ms)
  })
  try {
    return await Promise.race([orFault(store, call), late])
  } finally {
    clearTimeout(timer)
  }
}
