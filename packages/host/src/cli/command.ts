import type { Verdict } from '@gatewright/kernel'
import type { Fields, Table } from './table.ts'

/**
 * The output of a command. With `--json` it prints `data`, otherwise `lines` unchanged, `fields` one below the other, or `table`.
 * `empty` is printed instead of a table without rows; `note` is printed below the table. `ifUnprinted` is for lines that show a secret only now:
 * it says how to get another if they cannot be written.
 */
export type CommandOutput =
  | { readonly data: unknown; readonly lines: readonly string[]; readonly ifUnprinted?: string }
  | { readonly data: unknown; readonly fields: Fields }
  | { readonly data: unknown; readonly table: Table; readonly empty?: string; readonly note?: string }

/** Arguments after the command's name. */
export interface CommandArguments {
  readonly positional: readonly string[]
  readonly options: Readonly<Record<string, string | undefined>>
  /** Options that take no value. */
  readonly flags: ReadonlySet<string>
}

/** How a command is called, with the texts of its help. */
export interface CommandUsage {
  /** Group and verb, such as `partner-keys create`. */
  readonly name: string
  /** Positional arguments, as help shows them; those in brackets are optional. */
  readonly takes: readonly string[]
  /** Options that take a value, with their meaning. */
  readonly options?: Readonly<Record<string, string>>
  /** Options that take no value, with their meaning. */
  readonly flags?: Readonly<Record<string, string>>
  readonly summary: string
  /** Arguments and options of an example call, without the name. An empty text for a command that takes nothing. */
  readonly example: string
}

/** One operator command. It names the services that it needs as `S`: those of the configured host, without an HTTP server. */
export interface Command<S> extends CommandUsage {
  /** Checks the arguments, before anything is opened or confirmed. Throws a `UsageError`. */
  readonly check?: (args: CommandArguments) => unknown
  /** What cannot be undone, and its consequence. The command asks before it runs, unless `--yes` was given. */
  readonly confirm?: string
  /** Whether these arguments need the confirmation. Default: all do. */
  readonly needsConfirmation?: (args: CommandArguments) => boolean
  /**
   * Says what is confirmed, such as "Revoke key gw_..., last used 2 minutes ago". Throws a `CommandError` if there is nothing to do.
   * Default: the command with its arguments.
   */
  readonly subject?: (services: S, args: CommandArguments) => Promise<string>
  /** False for a command that reads no stores: it gets empty ones, also beside a running host. Default: true. */
  readonly readsStores?: false
  /** False for a command that must not run in the process of a host: beside a host on an embedded database it says so. Default: true. */
  readonly besideHost?: false
  run(services: S, args: CommandArguments): Promise<CommandOutput>
}

/** The functions that a command without stores can use. */
interface StartContext {
  readonly env: NodeJS.ProcessEnv
  readonly json: boolean
  readonly args: CommandArguments
  /** Reads the standard input to its end. */
  readonly input: () => Promise<string>
  /** Reports progress on the standard error stream. */
  readonly progress: (text: string) => void
  /** Asks before what cannot be undone, unless `--yes` was given. Throws a `CommandError` after a no. */
  readonly confirm: (text: string) => Promise<void>
}

/** A command that opens no stores: it needs none, or what it starts opens them. */
export interface StartCommand extends CommandUsage, Pick<Command<never>, 'check'> {
  /** True for a command that may call `confirm`: its help lists `--yes`. */
  readonly asks?: true
  start(context: StartContext): Promise<CommandOutput>
}

/** What help texts and completions say of a command: plain data, without what the command does. */
export type CommandHelp = CommandUsage & Pick<Command<never>, 'confirm'> & Pick<StartCommand, 'asks'>

/** Whether a command may ask before it does its work, so that `--yes` means something to it. */
export function asksFirst({ asks, confirm }: CommandHelp): boolean {
  return asks === true || confirm !== undefined
}

/** An expected failure, such as an unknown id. The program prints its message without a stack. */
export class CommandError extends Error {
  /** Printed as `error` with `--json`. */
  readonly code: string
  /** What the program exits with. */
  readonly exitCode: 1 | 2 | 3

  constructor(message: string, code = 'failed', exitCode: CommandError['exitCode'] = 1) {
    super(message)
    this.code = code
    this.exitCode = exitCode
  }
}

/** Wrong arguments or options. The program exits with 2. */
export class UsageError extends CommandError {
  constructor(message: string) {
    super(message, 'usage', 2)
  }
}

/** Returns the value of a verdict. Throws a `CommandError` with the message and the code of a denial. */
export function unwrap<T>(verdict: Verdict<T>): T {
  if (!verdict.ok) throw new CommandError(verdict.message, verdict.code)
  return verdict.value
}

const FIRST_NOTE_MS = 1000
const NEXT_NOTES_MS = 5000

/**
 * Waits for work that may take long. After a second, and then every five, it reports to the operator that the work is still
 * running.
 */
export async function reportElapsed<T>(
  { progress }: { readonly progress: (text: string) => void },
  title: string,
  work: Promise<T>,
): Promise<T> {
  const startedAt = performance.now()
  const note = (): void => {
    progress(`${title}: ${Math.round((performance.now() - startedAt) / 1000)} s so far`)
    timer = setTimeout(note, NEXT_NOTES_MS)
  }
  let timer = setTimeout(note, FIRST_NOTE_MS)
  return work.finally(() => clearTimeout(timer))
}

/** The result of one command. */
export interface CommandResult {
  /** 0, 1 for a failure, 2 for wrong arguments, or 3 where `migrate --check` finds versions missing. */
  readonly code: 0 | 1 | 2 | 3
  /** Text for standard output, without a final newline. */
  readonly out: string
  /** Text for standard error. With `--json` an object with `error` and `message`. */
  readonly problem: string
  /** How to get another secret if `out`, which shows one only now, cannot be written. Absent: it shows none. */
  readonly ifUnprinted?: string
}
