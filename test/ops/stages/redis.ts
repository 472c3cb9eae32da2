import { setTimeout as sleep } from 'node:timers/promises'
import { hostSecrets } from '../../harness/host-stores.ts'
import { createDatabase, startPostgresServer } from '../postgres.ts'
import { startRedisServer } from '../redis.ts'
import type { Fault, Stage } from '../stage.ts'

const FAULTS = [
  'kill -9 for 10 s, then empty',
  'freeze 15 s',
  'memory full 10 s',
  'becomes a replica 10 s',
  'may evict keys 10 s',
] as const

/** A Redis of rate limits and notifications beside a Postgres: hosts go on without it. */
export const redisStage: Stage = {
  name: 'postgres + redis',
  faults: FAULTS,
  async open(folder, programs) {
    const database = await startPostgresServer(programs, folder)
    const redis = await startRedisServer(folder)
    const during = async (seconds: number, begin: () => unknown, end: () => unknown): Promise<void> => {
      await begin()
      await sleep(seconds * 1000)
      await end()
    }
    const set = (name: string, value: string): Promise<unknown> => redis.command('CONFIG', 'SET', name, value)
    const acts: Readonly<Record<(typeof FAULTS)[number], () => Promise<void>>> = {
      'kill -9 for 10 s, then empty': () => during(10, redis.kill, redis.start),
      'freeze 15 s': () => during(15, redis.freeze, redis.thaw),
      'memory full 10 s': () =>
        during(
          10,
          () => set('maxmemory', '1'),
          () => set('maxmemory', '0'),
        ),
      'becomes a replica 10 s': () =>
        during(
          10,
          () => redis.command('REPLICAOF', '127.0.0.1', '1'),
          () => redis.command('REPLICAOF', 'NO', 'ONE'),
        ),
      'may evict keys 10 s': () =>
        during(
          10,
          () => set('maxmemory-policy', 'allkeys-lru'),
          () => set('maxmemory-policy', 'noeviction'),
        ),
    }
    return {
      faults: FAULTS.map((name): Fault => ({ name, act: acts[name] })),
      emptyDatabase: async () => ({
        ...hostSecrets(),
        DATABASE_URL: await createDatabase(database.url),
        REDIS_URL: redis.url,
        RATE_LIMITS: HIGH_LIMITS,
      }),
      settled: async () => {},
      async stop() {
        await Promise.all([database.kill(), redis.kill()])
      },
    }
  },
}

/** Limits that count in Redis, and that the writes of a row do not meet. */
export const HIGH_LIMITS = JSON.stringify({
  guardedPerKeyPerMinute: 100_000,
  writesPerSessionPerMinute: 100_000,
  writesPerAccountPerMinute: 100_000,
  bootstrapPerAddressPerMinute: 100_000,
  documentsPerAddressPerMinute: 100_000,
})
