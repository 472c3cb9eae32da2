import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { atExit } from './at-exit.ts'
import { cached, keep, postgresBinaries, redisBinaries } from './binaries.ts'

/** A server for the length of one test run. */
export interface Service {
  readonly url: string
  readonly from: string
  /** Undefined where the environment names the server. */
  readonly pid?: number | undefined
  stop(): Promise<void>
}

/** A server of one test, which can hang. */
export interface OwnService extends Service {
  /** Stops all of its processes without ending them: connections stay open, and nothing replies. */
  freeze(): void
  /** Lets them go on. */
  thaw(): void
}

export const isRoot: boolean = process.getuid?.() === 0
/** Whom programs run as that refuse root. */
export const NOBODY = { uid: 65534, gid: 65534 }

/** A port that was free a moment ago, on loopback. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Waits until a child prints `text`; rejects with what it printed when it ends or takes over 60 s. */
export async function printed(child: ChildProcess, text: string): Promise<void> {
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no "${text}" in 60 s: ${output}`)), 60_000)
    const settle = (done: () => void): void => {
      clearTimeout(timer)
      done()
    }
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      if (output.includes(text)) settle(resolve)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', error => settle(() => reject(error)))
    child.once('exit', code => settle(() => reject(new Error(`exit ${code}: ${output}`))))
  })
}

function stopper(child: ChildProcess, signal: NodeJS.Signals, directory: string): () => Promise<void> {
  return async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise(resolve => child.once('exit', resolve))
      child.kill(signal)
      await ended
    }
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Sends a signal to a process and its children. */
function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  for (const each of [pid as number, ...children.map(Number)]) process.kill(each, signal)
}

/** Makes the service of a running server, which ends with this process. A frozen one is let go before it is stopped. */
export function serviceOf(
  child: ChildProcess,
  {
    url,
    from,
    signal,
    directory,
  }: Pick<Service, 'url' | 'from'> & {
    readonly signal: NodeJS.Signals
    readonly directory: string
  },
): OwnService {
  const stop = stopper(child, signal, directory)
  let frozen = false
  const thaw = (): void => {
    if (frozen) signalAll(child, 'SIGCONT')
    frozen = false
  }
  const forget = atExit(() => {
    thaw()
    child.kill(signal)
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
  })
  return {
    url,
    from,
    pid: child.pid,
    freeze() {
      frozen = true
      signalAll(child, 'SIGSTOP')
    },
    thaw,
    async stop() {
      thaw()
      await stop()
      forget()
    },
  }
}

/** Starts on a free port; another process may take the port in between, so it tries three times. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort())
    } catch (error) {
      if (attempt === 3 || !/in use/i.test(String(error))) throw error
    }
  }
}

/** Postgres: `TEST_POSTGRES_URL`, else a throw-away server. Postgres refuses root, so root runs it as nobody. */
export async function postgresService(): Promise<Service> {
  const given = process.env['TEST_POSTGRES_URL']
  if (given) return { url: given, from: 'TEST_POSTGRES_URL', stop: async () => {} }
  return startPostgres()
}

const INITDB = ['-D', 'data', '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C']

/** Puts the files of an empty database into `data`. They are made once and kept: a copy takes a tenth of the time of initdb. */
async function emptyData(name: string, data: string, make: () => Promise<unknown>): Promise<void> {
  const kept = cached(`postgres-data-${name}`)
  // With the owner of the files, which root has given away.
  const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to])
  if (existsSync(kept)) {
    await copy(kept, data)
    return
  }
  await make()
  const beside = mkdtempSync(`${kept}-`)
  await copy(data, join(beside, 'data'))
  keep(join(beside, 'data'), kept)
  rmSync(beside, { recursive: true, force: true })
}

/**
 * Starts a Postgres in a folder below `below`. With `primary` it is a standby that follows the Postgres of that URL. With `durable` it waits
 * for the disk as one in production does; checkpoints are then an hour apart.
 */
export async function startPostgres({
  below = tmpdir(),
  primary,
  durable = false,
}: {
  readonly below?: string
  readonly primary?: string
  readonly durable?: boolean
} = {}): Promise<OwnService> {
  const binaries = postgresBinaries()
  const directory = mkdtempSync(join(below, 'gatewright-pg-'))
  if (isRoot) {
    chownSync(directory, NOBODY.uid, NOBODY.gid)
    chmodSync(directory, 0o755)
  }
  const env = { ...process.env, ...binaries.env, HOME: directory, LC_ALL: 'C', PGTZ: 'UTC' }
  const options = { ...(isRoot ? NOBODY : {}), cwd: directory, env }
  let bin = binaries.directory
  if (isRoot && spawnSync(join(bin, 'initdb'), ['--version'], options).status !== 0) {
    // nobody may not read the folder the programs are in: run a copy.
    cpSync(dirname(bin), join(directory, 'pg'), { recursive: true, verbatimSymlinks: true })
    bin = join(directory, 'pg', 'bin')
  }
  // Where PATH has links to some programs only, the others are beside their targets.
  const programs = dirname(realpathSync(join(bin, 'postgres')))
  // Not `spawnSync`: the primary may be behind a proxy of this process.
  const run = async (program: string, flags: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(join(programs, program), flags, options).catch(
      (error: Error) => {
        throw new Error(`${program} (${binaries.from}): ${error.message}`)
      },
    )
    return stdout
  }
  if (primary === undefined) {
    const version = (await run('postgres', ['--version'])).trim().replaceAll(/[^\w.]+/g, '-')
    await emptyData(`${version}-${process.getuid?.()}`, join(directory, 'data'), () => run('initdb', INITDB))
  } else await run('pg_basebackup', ['-d', primary, '-D', 'data', '-R', '-c', 'fast', '--no-sync'])
  return onFreePort(async port => {
    const settings = [
      'listen_addresses=127.0.0.1',
      'max_connections=200',
      ...(durable
        ? ['shared_buffers=512MB', 'max_wal_size=8GB', 'checkpoint_timeout=1h']
        : ['fsync=off', 'full_page_writes=off']),
    ]
    const args = ['-D', 'data', '-p', String(port), '-k', directory, ...settings.flatMap(set => ['-c', set])]
    const child = spawn(join(bin, 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
    // A standby says "ready to accept read-only connections".
    await printed(child, ' connections\n')
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    return serviceOf(child, { url, from: binaries.from, signal: 'SIGQUIT', directory })
  })
}

/** Redis: `TEST_REDIS_URL`, else a throw-away server without persistence. */
export async function redisService(): Promise<Service> {
  const given = process.env['TEST_REDIS_URL']
  if (given) return { url: given, from: 'TEST_REDIS_URL', stop: async () => {} }
  return startRedis([])
}

/** Starts a Redis without persistence, with more of its own flags (`--cluster-enabled yes`). */
export async function startRedis(flags: readonly string[]): Promise<OwnService> {
  const binaries = redisBinaries()
  return onFreePort(async port => {
    const directory = mkdtempSync(join(tmpdir(), 'gatewright-redis-'))
    const settings = { '--port': String(port), '--bind': '127.0.0.1', '--save': '', '--appendonly': 'no' }
    const args = [...Object.entries(settings).flat(), '--dir', directory, ...flags]
    const env = { ...process.env, ...binaries.env }
    const child = spawn(join(binaries.directory, binaries.server), args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    await printed(child, 'Ready to accept connections')
    const url = `redis://127.0.0.1:${port}`
    return serviceOf(child, { url, from: binaries.from, signal: 'SIGKILL', directory })
  })
}
