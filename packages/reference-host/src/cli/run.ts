import { Fault, checkOptions, type OptionTable } from '@gatewright/kernel'
import { createContainer } from '../composition/container.ts'
import * as registrations from '../composition/registrations.ts'
import { readConfig } from '../config/config.ts'
import { DataDirUnusable } from '../storage/data-dir-unusable.ts'
import { openStores } from '../storage/open.ts'
import { UsageError, type Command, type CommandArguments, type CommandOutput } from './command.ts'
import { tableLines } from './table.ts'

/** The result of one operator command. */
export interface CommandResult {
  readonly code: 0 | 1
  /** Text for standard output, without a final newline. */
  readonly out: string
  /** Text for standard error. */
  readonly problem: string
}

/** The environment of a command. */
export interface CommandOptions {
  /** Environment variables, as the host reads them. */
  readonly env: NodeJS.ProcessEnv
  /** Asks the operator a question; undefined without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined
  /** Reads the standard input to its end. Default: it is empty. */
  readonly input?: (() => Promise<string>) | undefined
  /** Columns of the terminal that tables must fit. Default: any width fits. */
  readonly width?: number | undefined
  /** Called with the progress of long work. Default: not reported. */
  readonly progress?: ((text: string) => void) | undefined
}

const OPTIONS: OptionTable<CommandOptions> = {
  env: true,
  ask: true,
  input: true,
  width: true,
  progress: true,
}

/**
 * Runs one operator command (`gatewright ARGUMENTS`) on the stores that the environment names. Usage errors, faults
 * and unexpected errors become `problem` with code 1; only an unknown option rejects, with a `TypeError`.
 */
export async function runCommand(argv: readonly string[], options: CommandOptions): Promise<CommandResult> {
  checkOptions('runCommand', options, OPTIONS)
  try {
    return { code: 0, out: await outputOf(argv, options), problem: '' }
  } catch (error) {
    return { code: 1, out: '', problem: problemOf(error) }
  }
}

async function outputOf(argv: readonly string[], options: CommandOptions): Promise<string> {
  // Imported here, so that programs that import this package to start a host do not load it.
  const { parseCommandLine } = await import('./program.ts')
  // A terminal of unknown width reports 0 columns.
  const width = options.width || undefined
  const line = parseCommandLine(argv, width)
  if ('text' in line) return line.text.trimEnd()
  const { command, args, json, yes } = line
  if ('start' in command) {
    const { env, input = async () => '' } = options
    return format(await command.start({ env, json, args, input }), json, width)
  }
  if (!yes && !(await confirmed(command, args, options.ask))) throw new UsageError('Nothing was done.')
  return format(await runOnStores(command, args, options), json, width)
}

async function runOnStores(
  command: Command,
  args: CommandArguments,
  { env, progress = () => {} }: CommandOptions,
): Promise<CommandOutput> {
  const config = readConfig(env)
  if (!config.ok) throw new UsageError(config.problems.join('\n'))
  // No command uses nonces or rate limits, so commands work while Redis is down.
  const { backend, secrets, close } = await openStores({ ...config.value, redis: undefined })
  try {
    const container = createContainer()
    container.bind(registrations.CONFIG, () => config.value)
    container.bind(registrations.BACKEND, () => backend)
    container.bind(registrations.SECRETS, () => secrets)
    const issuer = container.get(registrations.ISSUER)
    const context = {
      backend,
      container,
      issuer,
      progress,
      partners: container.get(registrations.PARTNERS),
      clock: container.get(registrations.CLOCK),
    }
    const output = await command.run(context, args)
    await issuer.flush()
    return output
  } finally {
    await close()
  }
}

function format(output: CommandOutput, json: boolean, width: number | undefined): string {
  if (json) return JSON.stringify(output.data, null, 2)
  if ('lines' in output) return output.lines.join('\n')
  const { table, empty, note } = output
  if (table.length < 2 && empty !== undefined) return empty
  return [...tableLines(table, width), ...(note === undefined ? [] : [note])].join('\n')
}

async function confirmed(
  { confirm, needsConfirmation = () => true, name }: Command,
  args: CommandArguments,
  ask: CommandOptions['ask'],
): Promise<boolean> {
  if (confirm === undefined || !needsConfirmation(args)) return true
  if (!ask) throw new UsageError(`${name} needs --yes without a terminal. ${confirm}`)
  return /^y(?:es)?$/i.test((await ask(`${confirm} Continue? [y/N] `)).trim())
}

function problemOf(error: unknown): string {
  const { message, code, cause, stack } = error as NodeJS.ErrnoException
  if (error instanceof UsageError || error instanceof DataDirUnusable) return message
  if (error instanceof Fault) return `${message}: ${cause instanceof Error ? cause.message : code}`
  return stack ?? String(error)
}
