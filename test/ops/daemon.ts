import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Postgres refuses to run as root, so root runs daemons as nobody. */
export const DAEMON_USER: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

/** A program that runs until it is stopped. */
export interface Daemon {
  readonly pid: number
  readonly running: boolean
  /** The file of what it prints. */
  readonly log: string
  /** Sends a signal to it. One that ended already ignores it. */
  signal(signal: NodeJS.Signals): void
  /** Sends a signal, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

const started = new Set<Daemon>()
const atExit: (() => void)[] = []

/** Runs a function when this process ends, however it ends. */
export function whenEnding(act: () => void): void {
  atExit.push(act)
}

/** Starts a program whose output goes to the file `log`, and which ends at the latest with this process. */
export function startDaemon(
  command: readonly [string, ...string[]],
  {
    cwd,
    env,
    log,
    user = DAEMON_USER,
  }: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly log: string
    readonly user?: typeof DAEMON_USER
  },
): Daemon {
  const file = openSync(log, 'a')
  const [program, ...args] = command
  const child = spawn(program, args, { ...user, cwd, env, stdio: ['ignore', file, file] })
  closeSync(file)
  const ended = new Promise<void>(resolve =>
    child.once('exit', () => resolve()).once('error', () => resolve()),
  )
  const running = (): boolean => isRunning(child)
  const daemon: Daemon = {
    pid: child.pid ?? 0,
    log,
    get running() {
      return running()
    },
    signal(signal) {
      if (running()) child.kill(signal)
    },
    async stop(signal = 'SIGKILL') {
      if (running()) child.kill(signal)
      await ended
      started.delete(daemon)
    },
  }
  started.add(daemon)
  return daemon
}

process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))

/**
 * A free port on loopback, below those that the system gives to outgoing connections: such a connection would take the port of a server that is
 * down for a while.
 */
export async function stablePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    const server = createServer()
    const isFree = await new Promise<boolean>(resolve => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    await new Promise(resolve => server.close(resolve))
    if (isFree) return port
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null
}

process.once('exit', () => {
  for (const act of atExit) act()
  for (const daemon of started) daemon.signal('SIGKILL')
})

/** A folder that only the user of daemons may read. */
export function daemonFolder(path: string): string {
  mkdirSync(path, { mode: 0o700, recursive: true })
  if (DAEMON_USER.uid !== undefined) chownSync(path, DAEMON_USER.uid, DAEMON_USER.gid as number)
  chmodSync(path, 0o700)
  return path
}

/** Waits until `condition` holds. Rejects after `seconds`, with what did not happen. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  seconds = 60,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not in ${seconds} s: ${what}`)
    await sleep(100)
  }
}

/** The processes that a process has started, and it. None if it has ended. */
export function processTree(pid: number): readonly number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return [pid, ...children.split(' ').filter(Boolean).map(Number)]
  } catch {
    return []
  }
}

/** Sends a signal to processes. One that has ended meanwhile is left out. */
export function signalProcesses(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, signal)
    } catch {}
}
