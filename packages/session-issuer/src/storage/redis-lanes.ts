import { redisFeed } from '@gatewright/kernel'
import { redisLane } from '@gatewright/kernel/internal'
import type { RedisClient } from '@gatewright/kernel/redis'
import { laneOf } from '../route.ts'

/** The names of one lane. */
export interface LaneNames {
  /** What every key begins with. */
  readonly prefix: string
  /** The stream of the lane. */
  readonly stream: string
  /** The channel of the feed, which all lanes share. */
  readonly channel: string
}

/** Where the rows of the accounts of one lane are. All keys are in one hash slot, since a script changes rows and the feed in one step. */
export interface RedisLane extends LaneNames {
  /** The same names as arguments of scripts: with what the client puts before each key (`keyPrefix`). */
  readonly inScripts: LaneNames
}

/** The lanes of one prefix. */
export interface RedisLanes {
  readonly all: readonly RedisLane[]
  /** The lane of a route. A text that is no route has a lane, too. */
  of(route: string): RedisLane
}

/** Makes the lanes of a prefix for a client. Throws a `TypeError` if the prefix contains a brace. */
export function redisLanes({ keyPrefix = '' }: RedisClient, prefix: string): RedisLanes {
  const { streams, channel } = redisFeed(prefix)
  const all = streams.map((stream, index): RedisLane => {
    const lane = redisLane(prefix, index)
    const inScripts = { prefix: keyPrefix + lane, stream: keyPrefix + stream, channel }
    return { prefix: lane, stream, channel, inScripts }
  })
  return { all, of: route => all[laneOf(route)] as RedisLane }
}

/** Divides values by the lane of their route. */
export function byLane<T>(
  lanes: RedisLanes,
  values: readonly T[],
  routeOfEach: (value: T) => string,
): readonly (readonly [RedisLane, readonly T[]])[] {
  const groups = new Map<RedisLane, T[]>()
  for (const value of values) {
    const lane = lanes.of(routeOfEach(value))
    const group = groups.get(lane)
    if (group) group.push(value)
    else groups.set(lane, [value])
  }
  return [...groups]
}

/** Runs `work` for one lane after the other until it has done `limit` units. Returns how many were done. */
export async function collectLanes(
  lanes: RedisLanes,
  limit: number,
  work: (lane: RedisLane, left: number) => Promise<number>,
): Promise<number> {
  let done = 0
  for (const lane of lanes.all) {
    if (done >= limit) break
    done += await work(lane, limit - done)
  }
  return done
}
