import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import type { Ending, BeginResult } from '#packages/idempotency-store/dist/storage/port.js'
import { isDeepStrictEqual } from 'node:util'

/** One call of the port with everything it was given. */
type Call =
  | {
      readonly verb: 'begin'
      readonly fingerprint: string
      readonly leaseUntil: number
      readonly now: number
    }
  | { readonly verb: 'end'; readonly fence: number; readonly ending: Ending; readonly now: number }

/** A call as it was seen from outside: when it was made, when it returned, and what. */
export interface Event {
  readonly call: Call
  readonly invoked: number
  readonly returned: number
  readonly result: BeginResult | boolean
}

/** The record of one key as the port's text describes it. */
interface RecordState {
  readonly fingerprint: string
  readonly fence: number
  readonly state: 'running' | 'done' | 'free'
  readonly until: number
  readonly response: string | null
}
type Model = RecordState | null

/** What a sequential store does: the next state and the result. */
function step(held: Model, call: Call): [Model, BeginResult | boolean] {
  if (call.verb === 'begin') {
    const { fingerprint, leaseUntil: until, now } = call
    const takeable = !held || held.state === 'free' || (held.state === 'done' && now >= held.until)
    if (takeable) {
      const fence = held ? Math.max(held.fence + 1, now) : now
      return [
        { fingerprint, fence, state: 'running', until, response: null },
        { state: 'started', fence },
      ]
    }
    if (held.fingerprint !== fingerprint) return [held, { state: 'reused' }]
    if (held.state === 'done') {
      return [held, { state: 'done', response: held.response as string, expiresAt: held.until }]
    }
    return [held, now < held.until ? { state: 'running' } : { state: 'lost', fence: held.fence }]
  }
  if (!held || held.fence !== call.fence) return [held, false]
  const { ending } = call
  const response = ending.state === 'done' ? ending.response : null
  if (held.state !== 'running') return [held, held.state === ending.state && held.response === response]
  if (ending.state === 'lost') return [{ ...held, until: 0 }, true]
  return [{ ...held, state: ending.state, until: ending.expiresAt, response }, true]
}

/**
 * Whether some order of the calls that respects real time (a call that returned before another was made comes
 * first) gives every call the result it had. Searches depth first and remembers where it has been
 * (Wing and Gong 1993, with the memory of Lowe 2017).
 */
export function isLinearizable(events: readonly Event[]): boolean {
  const all = (1 << events.length) - 1
  const seen = new Set<string>()
  const search = (done: number, held: Model): boolean => {
    if (done === all) return true
    const place = `${done} ${JSON.stringify(held)}`
    if (seen.has(place)) return false
    seen.add(place)
    const open = events.filter((_, index) => !(done & (1 << index)))
    const firstReturn = Math.min(...open.map(event => event.returned))
    return events.some((event, index) => {
      if (done & (1 << index) || event.invoked > firstReturn) return false
      const [next, result] = step(held, event.call)
      return isDeepStrictEqual(result, event.result) && search(done | (1 << index), next)
    })
  }
  return search(0, null)
}

/** What a lane does; the fence of an ending is known only when it is made. */
export type Order =
  | { readonly verb: 'begin'; readonly fingerprint: 'a' | 'b'; readonly afterMs: number }
  | {
      readonly verb: 'end'
      readonly whose: 'own' | 'latest'
      readonly state: Ending['state']
      readonly afterMs: number
    }

export const NOW = 1_767_225_600_000
const LEASE_MS = 60_000
const RETENTION_MS = 60_000

/** Runs each lane's orders one after the other, all lanes at once, and returns what was seen. */
export async function record(
  lanes: readonly (readonly Order[])[],
  connections: readonly IdempotencyStorage[],
  key: string,
): Promise<Event[]> {
  const events: Event[] = []
  let tick = 0
  let latest = NOW
  const perform = async (storage: IdempotencyStorage, call: Call): Promise<BeginResult | boolean> => {
    const invoked = tick++
    const result =
      call.verb === 'begin'
        ? await storage.begin(key, call.fingerprint, call.leaseUntil, call.now)
        : await storage.end(key, call.fence, call.ending, call.now)
    events.push({ call, invoked, returned: tick++, result })
    return result
  }
  await Promise.all(
    lanes.map(async (orders, lane) => {
      const storage = connections[lane % connections.length] as IdempotencyStorage
      let own = NOW
      for (const [index, order] of orders.entries()) {
        const now = NOW + order.afterMs
        if (order.verb === 'begin') {
          const { fingerprint } = order
          const begun = await perform(storage, {
            verb: 'begin',
            fingerprint,
            leaseUntil: now + LEASE_MS,
            now,
          })
          if (typeof begun === 'object' && begun.state === 'started') own = latest = begun.fence
          continue
        }
        const expiresAt = now + RETENTION_MS
        const endings: Record<Ending['state'], Ending> = {
          done: { state: 'done', response: `lane ${lane} step ${index}`, expiresAt },
          free: { state: 'free', expiresAt },
          lost: { state: 'lost' },
        }
        const fence = order.whose === 'own' ? own : latest
        await perform(storage, { verb: 'end', fence, ending: endings[order.state], now })
      }
    }),
  )
  return events
}
