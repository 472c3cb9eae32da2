import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hostSecrets } from '../../harness/host-stores.ts'
import { daemonFolder, stablePort, startDaemon, until, type Daemon } from '../daemon.ts'
import { createDatabase, runSql, startPostgresServer } from '../postgres.ts'
import type { ClusterPrograms } from '../programs.ts'
import type { Fault, Stage } from '../stage.ts'

const FAULTS = ['kill -9 for 5 s', 'freeze 15 s', 'postgres kill -9 for 5 s'] as const

/** PgBouncer in session mode before one Postgres. */
export const pgbouncerStage: Stage = {
  name: 'pgbouncer session',
  faults: FAULTS,
  async open(folder, programs) {
    const database = await startPostgresServer(programs, folder)
    const pooler = await startPgBouncer(programs, folder, new URL(database.url).port)
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
        return { ...hostSecrets(), DATABASE_URL: pooler.url + direct.pathname.slice(1) }
      },
      settled: async () => {},
      async stop() {
        await pooler.kill()
        await database.kill()
      },
    }
  },
}

interface Pooler {
  readonly url: string
  start(): Promise<void>
  kill(): Promise<void>
  freeze(): void
  thaw(): void
}

async function startPgBouncer(
  programs: ClusterPrograms,
  folder: string,
  databasePort: string,
): Promise<Pooler> {
  const own = daemonFolder(join(folder, 'pgbouncer'))
  const port = await stablePort()
  writeFileSync(join(own, 'users.txt'), '"postgres" ""\n')
  writeFileSync(join(own, 'pgbouncer.ini'), configuration(port, databasePort))
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

/** The limits that a host sends when it connects are ignored: PgBouncer cannot keep them apart for the clients of one connection. */
function configuration(port: number, databasePort: string): string {
  return `[databases]
* = host=127.0.0.1 port=${databasePort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = trust
auth_file = users.txt
pool_mode = session
default_pool_size = 40
max_client_conn = 300
unix_socket_dir =
ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout,extra_float_digits
`
}
