import type { checkLedger } from '@gatewright/host/internal'
import { fork, type ChildProcess } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Clock } from '@gatewright/kernel'

/** The state of the latest check of the ledger on this host. Instants are RFC 3339. */
type LedgerCheckState =
  | { readonly state: 'never' }
  | { readonly state: 'running'; readonly startedAt: string }
  | {
      readonly state: 'done'
      readonly startedAt: string
      readonly tookMs: number
      readonly transfers: number
      readonly sumCents: number
      /** Empty if the ledger is correct. */
      readonly problems: readonly string[]
    }
  /** The check took too long, or the database failed. Nothing is known about the ledger. */
  | {
      readonly state: 'failed'
      readonly startedAt: string
      readonly tookMs: number
      readonly limitMs: number
    }

/** Checks the ledger on demand, one check at a time. */
export interface LedgerChecks {
  latest(): LedgerCheckState
  /** Starts a check, unless one is running. Returns the state after that. */
  start(): LedgerCheckState
  /** Ends a running check. */
  stop(): Promise<void>
}

/** Runs one check. It ends when `signal` aborts. */
/** What a check of the ledger finds. */
export type LedgerFindings = Awaited<ReturnType<typeof checkLedger>>

type LedgerCheckRunner = (signal: AbortSignal) => Promise<LedgerFindings>

/** The database of a check. */
export type CheckedDatabase =
  | { readonly path: string }
  | { readonly url: string; readonly statementMs: number }

/** How long a check may take. `gatewright ledger check` has no limit. */
export const LEDGER_CHECK_MS = 120_000

/** Makes the checks of one host. */
export function ledgerChecks(
  run: LedgerCheckRunner,
  clock: Clock,
  limitMs: number = LEDGER_CHECK_MS,
): LedgerChecks {
  let latest: LedgerCheckState = { state: 'never' }
  let running: { readonly ended: Promise<void>; readonly abort: AbortController } | undefined
  const check = async (signal: AbortSignal): Promise<void> => {
    const startedAt = new Date(clock.now()).toISOString()
    latest = { state: 'running', startedAt }
    const began = performance.now()
    const took = (): number => Math.round(performance.now() - began)
    try {
      const { report, problems } = await run(signal)
      const { transfers, sumCents } = report
      latest = { state: 'done', startedAt, tookMs: took(), transfers, sumCents, problems }
    } catch {
      latest = { state: 'failed', startedAt, tookMs: took(), limitMs }
    }
  }
  return {
    latest: () => latest,
    start() {
      if (running) return latest
      const abort = new AbortController()
      const timer = setTimeout(() => abort.abort(), limitMs)
      const ended = check(abort.signal).finally(() => {
        clearTimeout(timer)
        running = undefined
      })
      running = { ended, abort }
      return latest
    },
    async stop() {
      running?.abort.abort()
      await running?.ended
    },
  }
}

/**
 * Checks a ledger in a process of its own with a lower priority, which is killed when time is up: the process that serves requests is
 * neither blocked nor short of a connection.
 */
export function ledgerCheckProcess(database: CheckedDatabase): LedgerCheckRunner {
  return signal =>
    new Promise((resolve, reject) => {
      const script = fileURLToPath(new URL('./ledger-check.child.js', import.meta.url))
      const stdio = ['ignore', 'ignore', 'ignore', 'ipc'] as const
      const child = fork(script, [], { env: connectionEnv(), execArgv: [], stdio: [...stdio] })
      lowerPriority(child)
      const kill = (): void => void child.kill('SIGKILL')
      signal.addEventListener('abort', kill, { once: true })
      let findings: LedgerFindings | undefined
      child.once('message', message => {
        findings = message as LedgerFindings
      })
      // A process that cannot start causes two errors: this event, and one for the message that was sent to it.
      child.on('error', reject)
      child.once('exit', code => {
        signal.removeEventListener('abort', kill)
        if (findings) resolve(findings)
        else reject(new Error(`the ledger check ended with ${code ?? 'a signal'}`))
      })
      child.send(database)
    })
}

/** Returns the environment variables that `pg` reads. The others contain secrets that the child does not need. */
function connectionEnv(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter(
    name => name.startsWith('PG') || name === 'NODE_EXTRA_CA_CERTS',
  )
  return Object.fromEntries(names.map(name => [name, process.env[name]]))
}

function lowerPriority({ pid }: ChildProcess): void {
  try {
    // Not the lowest one: where requests use up the CPU, a check would not end in its time.
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The process has ended already, or the system does not allow it: then it runs at normal priority.
  }
}
