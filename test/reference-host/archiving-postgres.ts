import { execFile, spawn, type ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { postgresBinaries } from '../harness/binaries.ts'
import { freePort, printed } from '../harness/services.ts'

/** A Postgres that archives its log, so that it can be brought back to a point in time. */
interface ArchivingPostgres {
  readonly url: string
  /** Takes a base backup while it runs. */
  baseBackup(): Promise<void>
  /** Replaces its data by the base backup, replayed to a time. Its address stays. */
  bringBack(to: Date): Promise<void>
  stop(): Promise<void>
}

const NOBODY = { uid: 65534, gid: 65534 }
const isRoot = process.getuid?.() === 0

/** Starts one on a free port. */
export async function archivingPostgres(): Promise<ArchivingPostgres> {
  const binaries = postgresBinaries()
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-archive-'))
  const archive = join(folder, 'archive')
  mkdirSync(archive)
  const env = { ...process.env, ...binaries.env, HOME: folder, LC_ALL: 'C', PGTZ: 'UTC' }
  const options = { ...(isRoot ? NOBODY : {}), cwd: folder, env }
  if (isRoot) for (const each of [folder, archive]) chownSync(each, NOBODY.uid, NOBODY.gid)
  chmodSync(folder, 0o755)
  // Where PATH has links to some programs only, the others are beside their targets.
  const programs = dirname(realpathSync(join(binaries.directory, 'postgres')))
  const program = (name: string): string => join(programs, name)
  const run = (name: string, args: readonly string[]) => promisify(execFile)(program(name), args, options)
  await run('initdb', [
    '-D',
    'data',
    '-U',
    'postgres',
    '-A',
    'trust',
    '--no-sync',
    '--locale=C',
    '-E',
    'UTF8',
  ])
  const port = await freePort()
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    archive_mode: 'on',
    archive_command: `cp %p ${archive}/%f`,
    fsync: 'off',
  }
  let server = await start()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  return {
    url,
    baseBackup: async () => {
      await run('pg_basebackup', ['-d', url, '-D', 'base', '-X', 'none', '-c', 'fast', '--no-sync'])
    },
    async bringBack(to) {
      // A stop archives the rest of the log.
      await end('SIGINT')
      rmSync(join(folder, 'data'), { recursive: true })
      renameSync(join(folder, 'base'), join(folder, 'data'))
      appendFileSync(
        join(folder, 'data/postgresql.auto.conf'),
        `restore_command = 'cp ${archive}/%f %p'
recovery_target_time = '${to.toISOString().replace('T', ' ').replace('Z', '+00')}'
recovery_target_action = 'promote'
`,
      )
      writeFileSync(join(folder, 'data/recovery.signal'), '')
      if (isRoot) chownSync(join(folder, 'data/recovery.signal'), NOBODY.uid, NOBODY.gid)
      // Between the end of the recovery and this line, it is read-only.
      server = await start('database system is ready to accept connections')
    },
    async stop() {
      await end('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }

  async function start(says = ' connections\n'): Promise<ChildProcess> {
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(program('postgres'), ['-D', 'data', ...args], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await printed(child, says)
    return child
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (server.exitCode !== null) return
    const ended = new Promise(resolve => server.once('exit', resolve))
    server.kill(signal)
    await ended
  }
}
