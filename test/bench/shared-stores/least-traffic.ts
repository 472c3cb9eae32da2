import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { CountingProxy, Traffic } from './counting-proxy.ts'

/**
 * Sends one request `turns` times, and returns what it sent through each proxy: the least of all turns, because a host's chores use the
 * stores too. On a busy machine a request takes so long that most turns have chores: so this goes on until `isEnough`, up to ten times as
 * often.
 */
export async function leastTraffic(
  proxies: readonly CountingProxy[],
  {
    turns,
    isEnough = () => true,
  }: { readonly turns: number; readonly isEnough?: (traffic: readonly Traffic[]) => boolean },
  send: (turn: number) => Promise<unknown>,
): Promise<readonly Traffic[]> {
  let found: readonly Traffic[] = proxies.map(() => ({ roundTrips: Infinity, statements: Infinity }))
  for (let turn = 0; turn < turns || (turn < 10 * turns && !isEnough(found)); turn++) {
    const before = await afterTraffic(proxies)
    await send(turn)
    found = found.map(({ roundTrips, statements }, at) => {
      const [from, { traffic }] = [before[at] as Traffic, proxies[at] as CountingProxy]
      return {
        roundTrips: Math.min(roundTrips, traffic.roundTrips - from.roundTrips),
        statements: Math.min(statements, traffic.statements - from.statements),
      }
    })
  }
  return found
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
