import { setTimeout as sleep } from 'node:timers/promises'
import { hostSecrets } from '../../harness/host-stores.ts'
import type { OpsHost, OpsHosts } from '../hosts.ts'
import { createDatabase, startPostgresServer } from '../postgres.ts'
import type { Fault, Stage } from '../stage.ts'

const restart = async (host: OpsHost, signal: NodeJS.Signals): Promise<void> => {
  await host.stop(signal)
  await host.start()
}

const freeze = async ({ pid }: OpsHost): Promise<void> => {
  process.kill(pid, 'SIGSTOP')
  await sleep(15_000)
  process.kill(pid, 'SIGCONT')
}

const first = ({ hosts: [host] }: OpsHosts): OpsHost => host as OpsHost

const FAULTS: readonly Fault[] = [
  { name: 'one kill -9', act: hosts => restart(first(hosts), 'SIGKILL') },
  { name: 'one SIGTERM', act: hosts => restart(first(hosts), 'SIGTERM') },
  {
    name: 'all kill -9',
    act: async ({ hosts }) => void (await Promise.all(hosts.map(host => restart(host, 'SIGKILL')))),
  },
  { name: 'one freeze 15 s', act: hosts => freeze(first(hosts)) },
  {
    name: 'restarted in turn, twice',
    async act({ hosts }) {
      for (const host of [...hosts, ...hosts]) await restart(host, 'SIGTERM')
    },
  },
]

/** Two hosts on one Postgres, of which one or both fail. */
export const hostsStage: Stage = {
  name: 'hosts on postgres',
  faults: FAULTS.map(({ name }) => name),
  async open(folder, programs) {
    const database = await startPostgresServer(programs, folder)
    return {
      faults: FAULTS,
      emptyDatabase: async () => ({ ...hostSecrets(), DATABASE_URL: await createDatabase(database.url) }),
      settled: async () => {},
      stop: () => database.kill(),
    }
  },
}
