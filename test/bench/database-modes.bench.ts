// What a divided database and a minimal one cost: pay-ins and payments of one host on tables in 8 partitions, on plain tables, and without the
// features that other engines lack. CPU of the host and of its database together, and elapsed time, per request.
import type { HostProcess } from '../harness/host.ts'
import { extent } from './extent.ts'
import { alternate, type Side } from './harness.ts'
import { load, type Request } from './load.ts'
import { cpuOfProcess, postgresCpu } from './shared-stores/cpu.ts'
import { withHosts } from './shared-stores/hosts.ts'
import { openSpenders, OPERATIONS, type Spender } from './shared-stores/operations.ts'

const CONNECTIONS = 8
/** Enough that no account meets the bound on open pay-ins. */
const USERS = extent(200, 2)

interface Mode extends Side {
  readonly host: HostProcess
  readonly users: readonly Spender[]
}

/** Runs something with one host for each of the environments, all of them at once. */
async function withModes(
  named: readonly (readonly [name: string, env: Record<string, string>])[],
  use: (modes: readonly Mode[]) => Promise<void>,
  opened: readonly Mode[] = [],
): Promise<void> {
  const [first, ...others] = named
  if (first === undefined) return use(opened)
  const [name, env] = first
  await withHosts({ kind: 'postgres', count: 1, env }, async ([host]) => {
    const mode = {
      name,
      host: host as HostProcess,
      users: await openSpenders((host as HostProcess).url, USERS),
    }
    await withModes(others, use, [...opened, mode])
  })
}

const modes: readonly (readonly [string, Record<string, string>])[] = [
  ['8 partitions', { DATABASE_PARTITIONS: '8', DATABASE_FEATURES: 'all' }],
  ['no partitions', { DATABASE_PARTITIONS: '1', DATABASE_FEATURES: 'all' }],
  ['minimal features', { DATABASE_PARTITIONS: '1', DATABASE_FEATURES: 'minimal' }],
]
const database = await postgresCpu(process.env['TEST_POSTGRES_URL'] as string)
try {
  await withModes(modes, async ([partitions, plain, minimal]) => {
    for (const operation of ['pay-in', 'payment']) {
      const requestBy = OPERATIONS[operation] as (user: Spender) => Request
      const operations = extent(600, 20)
      await alternate(`database-modes: ${operation}`, {
        ours: partitions as Mode,
        // A divided database may cost 5 % more than a plain one.
        peers: [{ ...(plain as Mode), minRatio: 0.95 }, minimal as Mode],
        operations,
        rounds: 8,
        sample: async ({ host, users }) => {
          const requests = Array.from({ length: operations + CONNECTIONS }, (_, index) =>
            requestBy(users[index % users.length] as Spender),
          )
          const cpu = async (): Promise<number> => cpuOfProcess(host.pid) + (await database.read())
          const port = Number(new URL(host.url).port)
          const [before, started] = [await cpu(), performance.now()]
          await load({ port, requests, count: operations, connections: CONNECTIONS, status: 200 })
          const wallMicros = ((performance.now() - started) * 1000) / operations
          return { cpuMicros: ((await cpu()) - before) / operations, wallMicros }
        },
      })
    }
  })
} finally {
  await database.close()
}
