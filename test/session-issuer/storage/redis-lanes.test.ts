// A collection visits the lanes of a Redis one after the other, within one limit.
import {
  collectLanes,
  redisLanes,
  type RedisLane,
} from '#packages/session-issuer/dist/storage/redis-lanes.js'
import type { RedisClient } from '@gatewright/kernel/redis'
import t from 'tap'

t.test('collects no more than the limit from all lanes together', async t => {
  const lanes = redisLanes({} as RedisClient, 'p')
  const perLane = 2
  const asked: [RedisLane, number][] = []
  const collect = (limit: number): Promise<number> => {
    asked.length = 0
    return collectLanes(lanes, limit, async (lane, left) => {
      asked.push([lane, left])
      return Math.min(left, perLane)
    })
  }
  t.equal(await collect(3), 3)
  t.same(asked, [
    [lanes.all[0], 3],
    [lanes.all[1], 1],
  ])
  t.equal(await collect(1000), lanes.all.length * perLane, 'all that there is')
  t.same(
    asked,
    lanes.all.map((lane, index) => [lane, 1000 - index * perLane]),
  )
})
