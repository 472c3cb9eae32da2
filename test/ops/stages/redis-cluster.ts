import { setTimeout as sleep } from 'node:timers/promises'
import { hostSecrets } from '../../harness/host-stores.ts'
import { startRedisCluster } from '../../harness/databases/redis-cluster.ts'
import { createDatabase, startPostgresServer } from '../postgres.ts'
import { sendCommand } from '../redis.ts'
import type { Fault, Stage } from '../stage.ts'
import { HIGH_LIMITS } from './redis.ts'

const FAULTS = ['a master hangs 10 s', 'a master ends for good'] as const

/** A Redis Cluster of three masters without replicas, beside a Postgres. */
export const redisClusterStage: Stage = {
  name: 'postgres + redis cluster',
  faults: FAULTS,
  async open(folder, programs) {
    const database = await startPostgresServer(programs, folder)
    const cluster = await startRedisCluster()
    const [master] = cluster.urls as [string]
    const acts: Readonly<Record<(typeof FAULTS)[number], () => Promise<void>>> = {
      'a master hangs 10 s': async () => {
        await sendCommand(master, ['CLIENT', 'PAUSE', '10000', 'ALL'])
        await sleep(10_000)
      },
      'a master ends for good': async () => {
        // Its end is the reply.
        await sendCommand(master, ['SHUTDOWN', 'NOSAVE']).catch(() => {})
        await sleep(10_000)
      },
    }
    return {
      faults: FAULTS.map((name): Fault => ({ name, act: acts[name] })),
      emptyDatabase: async () => ({
        ...hostSecrets(),
        DATABASE_URL: await createDatabase(database.url),
        REDIS_CLUSTER_URLS: cluster.urls.join(','),
        RATE_LIMITS: HIGH_LIMITS,
      }),
      settled: async () => {},
      async stop() {
        await Promise.all([database.kill(), cluster.stop()])
      },
    }
  },
}
