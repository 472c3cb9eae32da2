import { execFileSync } from 'node:child_process'
import { writeFileSync, statfsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { uniqueName } from '../harness/stores.ts'
import {
  DAEMON_USER,
  daemonFolder,
  processTree,
  signalProcesses,
  startDaemon,
  until,
  type Daemon,
  stablePort,
  whenEnding,
} from './daemon.ts'
import type { ClusterPrograms } from './programs.ts'

/** A server of a store that keeps its address when it is started again. */
export interface StoreServer {
  /** Ends in `/`, for the name of a database. */
  readonly url: string
  /** Starts it unless it runs, and waits until it replies. */
  start(): Promise<void>
  /** Kills all of its processes. */
  kill(): Promise<void>
  freeze(): void
  thaw(): void
}

/** Starts a Postgres in a folder below `folder`. */
export async function startPostgresServer(
  programs: Pick<ClusterPrograms, 'postgres' | 'env'>,
  folder: string,
): Promise<StoreServer> {
  const own = daemonFolder(join(folder, 'postgres'))
  const port = await stablePort()
  const env = { ...programs.env, LD_LIBRARY_PATH: '' }
  const init = ['-D', 'data', '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  execFileSync(join(programs.postgres, 'initdb'), init, { ...DAEMON_USER, cwd: own, env })
  const url = `postgres://postgres@127.0.0.1:${port}/`
  const settings = ['listen_addresses=127.0.0.1', 'max_connections=60']
  const args = ['-D', 'data', '-p', String(port), '-k', own, ...settings.flatMap(setting => ['-c', setting])]
  let daemon: Daemon | undefined
  const pids = (): readonly number[] => (daemon?.running ? processTree(daemon.pid) : [])
  const server: StoreServer = {
    url,
    async start() {
      if (daemon?.running) return
      daemon = startDaemon([join(programs.postgres, 'postgres'), ...args], {
        cwd: own,
        env,
        log: join(folder, 'postgres.log'),
      })
      await until('Postgres replies', () =>
        runSql(`${url}postgres`, 'select 1').then(
          () => true,
          () => false,
        ),
      )
    },
    async kill() {
      signalProcesses(pids(), 'SIGKILL')
      await daemon?.stop()
    },
    freeze: () => signalProcesses(pids(), 'SIGSTOP'),
    thaw: () => signalProcesses(pids(), 'SIGCONT'),
  }
  whenEnding(() => signalProcesses(pids(), 'SIGKILL'))
  await server.start()
  return server
}

/** Runs statements on a connection of its own. */
export async function runSql(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  client.on('error', () => {})
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Creates an empty database on a server whose URL ends in `/`, and returns its URL. */
export async function createDatabase(server: string): Promise<string> {
  const name = uniqueName()
  await runSql(`${server}postgres`, `create database ${name}`)
  return `${server}${name}`
}

/** Mounts a small file system in memory on a folder. Throws where this user may not mount one. */
export function mountSmallDisk(path: string, mebibytes: number): { unmount(): void } {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0755`, 'tmpfs', path])
  return { unmount: () => void execFileSync('umount', ['-l', path]) }
}

/** Fills a file system, also while others write to it. Returns the function that frees what was filled. */
export function fillDisk(path: string): () => void {
  const file = join(path, 'filler')
  const { bavail, bsize } = statfsSync(path)
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
  return () => rmSync(file)
}
