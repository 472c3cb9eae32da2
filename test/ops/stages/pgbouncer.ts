import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hostSecrets } from '../../harness/host-stores.ts'
import { daemonFolder, stablePort, startDaemon, until, type Daemon } from '../daemon.ts'
import { createDatabase, runSql, startPostgresServer } from '../postgres.ts'
import type { ClusterPrograms } from '../programs.ts'
import type { Fault, OpenStage, Stage } from '../stage.ts'

const FAULTS = ['kill -9 for 5 s', 'freeze 15 s', 'postgres kill -9 for 5 s'] as const

/** The limits of a host's connections, which PgBouncer does not pass on. */
const LIMITS = [
  "alter role postgres set lock_timeout = '5s'",
  "alter role postgres set statement_timeout = '20s'",
  "alter role postgres set idle_in_transaction_session_timeout = '15s'",
]

/** PgBouncer before one Postgres. */
export const PGBOUNCER_STAGES: readonly Stage[] = (['session', 'transaction'] as const).map(pgbouncerStage)

type PoolMode = 'session' | 'transaction'

function pgbouncerStage(mode: PoolMode): Stage {
  return {
    name: `pgbouncer ${mode}`,
    faults: FAULTS,
    open: (folder, programs) => open(folder, programs, mode),
  }
}

async function open(folder: string, programs: ClusterPrograms, mode: PoolMode): Promise<OpenStage> {
  const database = await startPostgresServer(programs, folder)
  await runSql(`${database.url}postgres`, ...LIMITS)
  const pooler = await startPgBouncer({ programs, folder, databasePort: new URL(database.url).port, mode })
  const acts: Readonly<Record<(typeof FAULTS)[number], () => Promise<void>>> = {
    'kill -9 for 5 s': async () => {
      await pooler.kill()
      await sleep(5000)
      await pooler.start()
    },
    'freeze 15 s': async () => {
      pooler.freeze()
      await sleep(15_000)
      pooler.thaw()
    },
    'postgres kill -9 for 5 s': async () => {
      await database.kill()
      await sleep(5000)
      await database.start()
    },
  }
  return {
    faults: FAULTS.map((name): Fault => ({ name, act: acts[name] })),
    async emptyDatabase() {
      const direct = new URL(await createDatabase(database.url))
      const pooled = { DATABASE_URL: pooler.url + direct.pathname.slice(1) }
      const unprepared = { DATABASE_PREPARE: 'off', DATABASE_LISTEN_URL: direct.href }
      return { ...hostSecrets(), ...pooled, ...(mode === 'transaction' ? unprepared : {}) }
    },
    settled: async () => {},
    async stop() {
      await pooler.kill()
      await database.kill()
    },
  }
}

interface Pooler {
  readonly url: string
  start(): Promise<void>
  kill(): Promise<void>
  freeze(): void
  thaw(): void
}

async function startPgBouncer({
  programs,
  folder,
  databasePort,
  mode,
}: {
  readonly programs: ClusterPrograms
  readonly folder: string
  readonly databasePort: string
  readonly mode: PoolMode
}): Promise<Pooler> {
  const own = daemonFolder(join(folder, 'pgbouncer'))
  const port = await stablePort()
  writeFileSync(join(own, 'users.txt'), '"postgres" ""\n')
  writeFileSync(join(own, 'pgbouncer.ini'), configuration(port, databasePort, mode))
  const url = `postgres://postgres@127.0.0.1:${port}/`
  let daemon: Daemon | undefined
  const pooler: Pooler = {
    url,
    async start() {
      daemon = startDaemon([programs.pgbouncer, 'pgbouncer.ini'], {
        cwd: own,
        env: programs.env,
        log: join(folder, 'pgbouncer.log'),
      })
      await until('PgBouncer replies', () =>
        runSql(`${url}postgres`, 'select 1').then(
          () => true,
          () => false,
        ),
      )
    },
    kill: async () => daemon?.stop(),
    freeze: () => daemon?.signal('SIGSTOP'),
    thaw: () => daemon?.signal('SIGCONT'),
  }
  await pooler.start()
  return pooler
}

/** In session mode a host sends its limits when it connects, which PgBouncer must ignore to accept it. */
function configuration(port: number, databasePort: string, mode: PoolMode): string {
  return `[databases]
* = host=127.0.0.1 port=${databasePort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = trust
auth_file = users.txt
pool_mode = ${mode}
default_pool_size = 40
max_client_conn = 300
unix_socket_dir =
ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout,extra_float_digits
`
}
