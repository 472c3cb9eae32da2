import { setTimeout as sleep } from 'node:timers/promises'
import { hostSecrets } from '../../harness/host-stores.ts'
import { startPatroni, type PatroniCluster, type PatroniNode, type PatroniOptions } from '../patroni.ts'
import { createDatabase } from '../postgres.ts'
import type { Fault, Stage } from '../stage.ts'

type Act = (primary: PatroniNode, cluster: PatroniCluster) => Promise<void>

/** Longer than the lease of a primary, and the time in which another is chosen. */
const FAILOVER_MS = 35_000

const freezing =
  (ms: number): Act =>
  async primary => {
    primary.freeze()
    await sleep(ms)
    primary.thaw()
  }

/** The faults of the primary. */
const OF_PRIMARY: Readonly<Record<string, Act>> = {
  'postgres kill -9': async primary => primary.killPostgres(),
  'node kill -9': async primary => {
    primary.kill()
    await sleep(FAILOVER_MS)
    primary.start()
  },
  'patroni kill -9': async primary => {
    primary.killPatroni()
    await sleep(FAILOVER_MS)
    primary.start()
  },
  'freeze 15 s': freezing(15_000),
  switchover: async (_, cluster) => cluster.switchover(),
}

/** The primary is replaced while it is frozen, and goes on afterwards. */
const REPLACED: Readonly<Record<string, Act>> = {
  'freeze 45 s': async (primary, cluster) => {
    await freezing(45_000)(primary, cluster)
    // Time for a wrong primary to take writes.
    await sleep(15_000)
  },
}

const OF_OTHERS: Readonly<Record<string, Act>> = {
  'etcd freeze 10 s': async (_, { etcd }) => {
    etcd.signal('SIGSTOP')
    await sleep(10_000)
    etcd.signal('SIGCONT')
  },
  'etcd freeze 40 s': async (_, { etcd }) => {
    etcd.signal('SIGSTOP')
    await sleep(40_000)
    etcd.signal('SIGCONT')
  },
  'replicas freeze 30 s, then node kill -9': async (primary, { nodes }) => {
    const replicas = nodes.filter(node => node !== primary)
    for (const replica of replicas) replica.freeze()
    await sleep(30_000)
    primary.kill()
    for (const replica of replicas) replica.thaw()
    await sleep(FAILOVER_MS)
    primary.start()
  },
}

interface PatroniStage {
  readonly name: string
  readonly options: PatroniOptions
  readonly acts: Readonly<Record<string, Act>>
  readonly expected?: Pick<Fault, 'mayLose' | 'wrongReadiness'>
}

/** Patroni, etcd and HAProxy. */
function patroniStage({ name, options, acts, expected = {} }: PatroniStage): Stage {
  return {
    name,
    faults: Object.keys(acts),
    async open(folder, programs) {
      const cluster = await startPatroni(programs, folder, options)
      const faults = Object.entries(acts).map(
        ([fault, act]): Fault => ({
          name: fault,
          act: async () => act(await cluster.primary(), cluster),
          ...expected,
        }),
      )
      return {
        faults,
        emptyDatabase: async () => ({ ...hostSecrets(), DATABASE_URL: await createDatabase(cluster.url) }),
        settled: () => cluster.settled(),
        stop: () => cluster.stop(),
      }
    },
  }
}

/** The clusters that docs/clusters.md compares. */
export const PATRONI_STAGES: readonly Stage[] = [
  patroniStage({
    name: 'patroni asynchronous',
    options: { replication: 'asynchronous' },
    acts: { ...OF_PRIMARY, ...REPLACED },
    expected: { mayLose: 'newest' },
  }),
  patroniStage({
    name: 'patroni synchronous',
    options: { replication: 'synchronous' },
    acts: {
      ...OF_PRIMARY,
      ...REPLACED,
      'etcd freeze 10 s': OF_OTHERS['etcd freeze 10 s'] as Act,
      'etcd freeze 40 s': OF_OTHERS['etcd freeze 40 s'] as Act,
    },
  }),
  patroniStage({
    name: 'patroni strict',
    options: { replication: 'strict' },
    acts: OF_OTHERS,
  }),
  patroniStage({
    name: 'patroni 3.0.2 unfenced',
    options: { replication: 'synchronous', respectsLeaderKey: false },
    acts: REPLACED,
    expected: { mayLose: 'any', wrongReadiness: true },
  }),
  patroniStage({
    name: 'proxy keeps sessions',
    options: { replication: 'asynchronous', cutSessions: false },
    acts: { switchover: OF_PRIMARY['switchover'] as Act, ...REPLACED },
    expected: { mayLose: 'any', wrongReadiness: true },
  }),
]
