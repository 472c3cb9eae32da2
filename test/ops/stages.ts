import type { Stage } from './stage.ts'
import { embeddedStage } from './stages/embedded.ts'
import { hostsStage } from './stages/hosts.ts'
import { PATRONI_STAGES } from './stages/patroni.ts'
import { PGBOUNCER_STAGES } from './stages/pgbouncer.ts'
import { postgresStage } from './stages/postgres.ts'
import { redisClusterStage } from './stages/redis-cluster.ts'
import { redisSentinelStage } from './stages/redis-sentinel.ts'
import { redisStage } from './stages/redis.ts'

/** All stages of `npm run test:ops`, in the order in which they run. */
export const STAGES: readonly Stage[] = [
  ...PATRONI_STAGES,
  ...PGBOUNCER_STAGES,
  postgresStage,
  redisStage,
  redisSentinelStage,
  redisClusterStage,
  hostsStage,
  embeddedStage,
]
