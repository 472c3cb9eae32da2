import { Fault } from '@gatewright/kernel'
import { checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import type { HostServices } from './host-services.ts'
import type { CommandFile } from './module.ts'
import { openProduct, type Product } from './run-host.ts'
import type { ConfigResult } from '../config/host-config.ts'
import type { Env } from '../config/variable.ts'
import { DataDirUnusable } from '../storage/data-dir-unusable.ts'
import {
  UsageError,
  type Command,
  type CommandArguments,
  type CommandOutput,
  type StartCommand,
} from '../cli/command.ts'
import { tableLines } from '../cli/table.ts'

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

/** The operator commands of a product. */
export interface OperatorProgram<S extends HostServices> {
  /** As it is called, such as `gatewright`. */
  readonly name: string
  readonly version: string
  readonly product: Product<S>
  /** Loads the commands beside those of the product's modules. They come first in the help. */
  readonly commands: () => Promise<CommandFile<Command<S> | StartCommand>>
  readonly readConfig: (env: Env) => ConfigResult<S['config']>
}

/** Runs one operator command, such as `['jobs', 'list']`. */
export type RunCommand = (argv: readonly string[], options: CommandOptions) => Promise<CommandResult>

/**
 * Makes the function that runs the operator commands of a program on the stores that the environment names. Usage errors, faults
 * and unexpected errors become `problem` with code 1; only an unknown option rejects, with a `TypeError`.
 */
export function commandRunner<S extends HostServices>(program: OperatorProgram<S>): RunCommand {
  return async (argv, options) => {
    checkOptions('runCommand', options, OPTIONS)
    try {
      return { code: 0, out: await outputOf(program, argv, options), problem: '' }
    } catch (error) {
      return { code: 1, out: '', problem: problemOf(error) }
    }
  }
}

async function outputOf<S extends HostServices>(
  program: OperatorProgram<S>,
  argv: readonly string[],
  options: CommandOptions,
): Promise<string> {
  // Loaded here and not by whoever imports this package to start a host.
  const { parseCommandLine } = await import('../cli/program.ts')
  const { name, version, product } = program
  const loaders = [program.commands, ...product.modules.flatMap(module => module.commands ?? [])]
  const commands = (await Promise.all(loaders.map(load => load()))).flatMap(file => file.commands)
  // A terminal that does not know its width says 0 columns.
  const width = options.width || undefined
  const line = parseCommandLine({ name, version, commands }, argv, width)
  if ('text' in line) return line.text.trimEnd()
  const { command, args, json, yes } = line
  if ('start' in command) {
    const { env, input = async () => '' } = options
    return format(await command.start({ env, json, args, input }), json, width)
  }
  if (!yes && !(await confirmed(command, args, options.ask))) throw new UsageError('Nothing was done.')
  return format(await runOnStores(program, command, args, options), json, width)
}

async function runOnStores<S extends HostServices>(
  { product, readConfig }: OperatorProgram<S>,
  command: Command<S>,
  args: CommandArguments,
  { env, progress = () => {} }: CommandOptions,
): Promise<CommandOutput> {
  const config = readConfig(env)
  if (!config.ok) throw new UsageError(config.problems.join('\n'))
  const report = (error: unknown): void => {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
  // No command uses nonces or rate limits, so commands work while Redis is down.
  const { services, close } = await openProduct<S>({ ...config.value, redis: undefined }, product, {
    observe: () => {},
    report,
    progress,
  })
  try {
    const output = await command.run(services, args)
    await services.issuer.flush()
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
  { confirm, needsConfirmation = () => true, name }: Command<never>,
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
