import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { deliverTo, type DeliveryServices } from './deliver.ts'
import { endpoints } from './endpoints.ts'

/** To how many endpoints one host sends at the same time. */
const ENDPOINTS_AT_ONCE = 64
/** How often a host looks for further endpoints while it sends to some. */
const LOOK_MS = 500

/**
 * Makes the function that sends to all endpoints that are due, and resolves when none is. It goes on to look for others while it waits for a
 * slow one, so that no endpoint delays another.
 */
export function deliveryRounds(services: DeliveryServices): (signal: AbortSignal) => Promise<void> {
  const { db, clock, report } = services
  return async signal => {
    const running = new Set<Promise<void>>()
    // Each attempt under way listens.
    setMaxListeners(0, signal)
    for (;;) {
      const free = ENDPOINTS_AT_ONCE - running.size
      const leased =
        free > 0 && !signal.aborted
          ? await endpoints.lease(db, free, clock.now()).catch(noneAfter(report))
          : []
      for (const endpoint of leased) {
        const turn = deliverTo(services, endpoint, signal)
          .catch(report)
          .finally(() => running.delete(turn))
        running.add(turn)
      }
      if (running.size === 0) return
      const waiting = new AbortController()
      await Promise.race([...running, setTimeout(LOOK_MS, undefined, waiting).catch(() => {})])
      waiting.abort()
    }
  }
}

const noneAfter =
  (report: (error: unknown) => void) =>
  (error: unknown): [] => {
    report(error)
    return []
  }
