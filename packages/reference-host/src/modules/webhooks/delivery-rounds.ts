import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { deliverTo, type DeliveryServices } from './deliver.ts'
import { endpoints, MAX_ENDPOINTS } from './endpoints.ts'

/** To how many endpoints one host sends at the same time. */
const ENDPOINTS_AT_ONCE = 64
/** From how many on one recipient gets no further ones: an endpoint that was enabled again counts beside its turn that has not ended. */
const PER_RECIPIENT = MAX_ENDPOINTS
/** How often a host looks for further endpoints while it sends to some. */
const LOOK_MS = 500

/**
 * Makes the function that sends to all endpoints that are due, and resolves when none is. It goes on to look for others while it waits for a
 * slow one, so that no endpoint delays another, and gives no recipient more than a small part of its places. It ends soon after `signal` aborts.
 */
export function deliveryRounds(services: DeliveryServices): (signal: AbortSignal) => Promise<void> {
  const { db, clock, report } = services
  return async signal => {
    /** The turns under way, with their recipients. */
    const running = new Map<Promise<void>, string>()
    // Each attempt under way listens.
    setMaxListeners(0, signal)
    for (;;) {
      const free = ENDPOINTS_AT_ONCE - running.size
      const leased =
        free > 0 && !signal.aborted
          ? await endpoints
              .lease(db, { limit: free, except: busiest(running.values()) }, clock.now())
              .catch(noneAfter(report))
          : []
      for (const endpoint of leased) {
        const turn = deliverTo(services, endpoint, signal)
          .catch(report)
          .finally(() => running.delete(turn))
        running.set(turn, endpoint.recipientId)
      }
      if (running.size === 0) return
      const waiting = new AbortController()
      await Promise.race([...running.keys(), setTimeout(LOOK_MS, undefined, waiting).catch(() => {})])
      waiting.abort()
    }
  }
}

/** Returns the recipients that have used up their places. */
function busiest(recipients: Iterable<string>): readonly string[] {
  const places = new Map<string, number>()
  for (const recipient of recipients) places.set(recipient, (places.get(recipient) ?? 0) + 1)
  return [...places].filter(([, taken]) => taken >= PER_RECIPIENT).map(([recipient]) => recipient)
}

const noneAfter =
  (report: (error: unknown) => void) =>
  (error: unknown): [] => {
    report(error)
    return []
  }
