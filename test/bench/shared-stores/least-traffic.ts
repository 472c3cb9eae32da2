import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { CountingProxy, Traffic } from './counting-proxy.ts'

/**
 * Sends one request `turns` times, and returns what it sent through each proxy: the least of all turns, because a host's chores use the
 * stores too.
 */
export async function leastTraffic(
  proxies: readonly CountingProxy[],
  turns: number,
  send: (turn: number) => Promise<unknown>,
): Promise<Traffic[]> {
  const all: Traffic[][] = []
  for (let turn = 0; turn < turns; turn++) {
    const before = await afterTraffic(proxies)
    await send(turn)
    all.push(
      proxies.map(({ traffic }, at) => ({
        roundTrips: traffic.roundTrips - (before[at] as Traffic).roundTrips,
        statements: traffic.statements - (before[at] as Traffic).statements,
      })),
    )
  }
  const leastOf = (at: number, figure: keyof Traffic): number =>
    Math.min(...all.map(turn => (turn[at] as Traffic)[figure]))
  return proxies.map((_, at) => ({
    roundTrips: leastOf(at, 'roundTrips'),
    statements: leastOf(at, 'statements'),
  }))
}

/**
 * What was counted once nothing has been sent for 0.1 s: the host has published the events of the request before. Its chores never
 * rest for long, so this waits for 2 s at most.
 */
async function afterTraffic(proxies: readonly CountingProxy[]): Promise<readonly Traffic[]> {
  const counted = (): Traffic[] => proxies.map(({ traffic }) => ({ ...traffic }))
  let before = counted()
  for (let waits = 0; waits < 20; waits++) {
    await sleep(100)
    const now = counted()
    if (isDeepStrictEqual(before, now)) break
    before = now
  }
  return before
}
