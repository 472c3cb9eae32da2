import { setTimeout as sleep } from 'node:timers/promises'
import { hostSecrets } from '../../harness/host-stores.ts'
import { startWatchedRedis, type WatchedRedis } from '../../harness/databases/redis-sentinel.ts'
import { createDatabase, startPostgresServer } from '../postgres.ts'
import type { Fault, Stage } from '../stage.ts'
import { HIGH_LIMITS } from './redis.ts'

const ACTS: Readonly<Record<string, (redis: WatchedRedis) => Promise<void>>> = {
  'master kill -9': ({ master }) => master.stop(),
  'master freeze 15 s': async ({ master }) => {
    master.freeze()
    await sleep(15_000)
    master.thaw()
  },
}

/** A Redis with a replica that Sentinels watch, new for each fault, beside a Postgres. */
export const redisSentinelStage: Stage = {
  name: 'postgres + redis sentinel',
  faults: Object.keys(ACTS),
  async open(folder, programs) {
    const database = await startPostgresServer(programs, folder)
    let redis: WatchedRedis | undefined
    return {
      faults: Object.entries(ACTS).map(
        ([name, act]): Fault => ({
          name,
          async act() {
            if (redis) await act(redis)
            await sleep(10_000)
          },
        }),
      ),
      async emptyDatabase() {
        await redis?.stop()
        redis = await startWatchedRedis()
        return {
          ...hostSecrets(),
          DATABASE_URL: await createDatabase(database.url),
          REDIS_URL: `redis+sentinel://${redis.addresses.join(',')}/gw`,
          RATE_LIMITS: HIGH_LIMITS,
        }
      },
      settled: async () => {},
      async stop() {
        await redis?.stop()
        await database.kill()
      },
    }
  },
}
