import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { hostSecrets } from '../../harness/host-stores.ts'
import { createDatabase, fillDisk, mountSmallDisk, runSql, startPostgresServer } from '../postgres.ts'
import type { Fault, Stage } from '../stage.ts'

const FAULTS = [
  'kill -9',
  'kill -9 of a backend',
  'connections cut',
  'freeze 15 s',
  'read-only 10 s',
  'disk full 15 s',
] as const

const DISK_MEBIBYTES = 400

/** One Postgres on a small disk of its own, with everything that happens to a database without a replica. */
export const postgresStage: Stage = {
  name: 'postgres',
  faults: FAULTS,
  async open(folder, programs) {
    const disk = join(folder, 'disk')
    mkdirSync(disk)
    const { unmount } = mountSmallDisk(disk, DISK_MEBIBYTES)
    const server = await startPostgresServer(programs, disk)
    const admin = `${server.url}postgres`
    const acts: Readonly<Record<(typeof FAULTS)[number], () => Promise<void>>> = {
      'kill -9': async () => {
        await server.kill()
        await sleep(5000)
        await server.start()
      },
      // Postgres ends all connections, and recovers.
      'kill -9 of a backend': async () => void process.kill(await oneBackend(admin), 'SIGKILL'),
      'connections cut': () =>
        runSql(
          admin,
          'select pg_terminate_backend(pid) from pg_stat_activity where datname is not null and pid <> pg_backend_pid()',
        ),
      'freeze 15 s': async () => {
        server.freeze()
        await sleep(15_000)
        server.thaw()
      },
      'read-only 10 s': async () => {
        const readOnly = (on: boolean): Promise<void> =>
          runSql(admin, `alter system set default_transaction_read_only = ${on}`, 'select pg_reload_conf()')
        await readOnly(true)
        await sleep(10_000)
        await runSql(
          admin,
          'set default_transaction_read_only = off',
          'alter system reset default_transaction_read_only',
          'select pg_reload_conf()',
        )
      },
      'disk full 15 s': async () => {
        const free = fillDisk(disk)
        await sleep(15_000)
        free()
        await server.start()
      },
    }
    return {
      faults: FAULTS.map(
        (name): Fault => ({
          name,
          act: acts[name],
          // After a full disk a host stays not ready for 30 s.
          ...(name === 'disk full 15 s' ? { wrongReadiness: true } : {}),
        }),
      ),
      emptyDatabase: async () => ({ ...hostSecrets(), DATABASE_URL: await createDatabase(server.url) }),
      settled: () => server.start(),
      async stop() {
        await server.kill()
        unmount()
      },
    }
  },
}

/** The process that serves one connection of a host. */
async function oneBackend(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1",
  )
  await client.end()
  return (rows[0] as { readonly pid: number }).pid
}
