import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import { distributeCommand } from './distribute-command.ts'
import { problemOf } from './command-host.ts'
import { runInHost } from './command-socket.ts'
import type { HostServices } from './host-services.ts'
import { migrateCommand } from './migrate-command.ts'
import type { CommandFile } from './module.ts'
import { openProduct, type Product } from './run-host.ts'
import type { ConfigResult } from '../config/host-config.ts'
import type { Env } from '../config/variable.ts'
import { DataDirInUse } from '../storage/data-dir-unusable.ts'
import {
  CommandError,
  UsageError,
  type Command,
  type CommandOutput,
  type CommandResult,
  type StartCommand,
} from '../cli/command.ts'
import { completionCommand } from '../cli/completion.ts'
import { withKeyId } from '../cli/key-argument.ts'
import { OutputError } from '../cli/print.ts'
import { failedResult, jsonText } from '../cli/problem.ts'
import type { ProgramTexts, RequestedCommand } from '../cli/program.ts'
import { fieldTable, tableLines } from '../cli/table.ts'
import { escapedText, type Terminal } from '../observability/terminal.ts'

/** The environment of a command. */
export interface CommandOptions {
  /** Environment variables, as the host reads them. */
  readonly env: NodeJS.ProcessEnv
  /** Asks the operator a question; undefined without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined
  /** Reads the standard input to its end. Default: it is empty. */
  readonly input?: (() => Promise<string>) | undefined
  /** The terminal that shows the output. Default: none, so that output is for programs. */
  readonly terminal?: Terminal | undefined
  /** Called with the progress of long work. Default: not reported. */
  readonly progress?: ((text: string) => void) | undefined
}

const OPTIONS: OptionTable<CommandOptions> = {
  env: true,
  ask: true,
  input: true,
  terminal: true,
  progress: true,
}

/** The commands of a product. */
export interface OperatorProgram<S extends HostServices> extends ProgramTexts {
  readonly product: Product<S>
  /** Loads the commands beside those of the product's modules and of every host. They come first in the help. */
  readonly commands: () => Promise<CommandFile<Command<S> | StartCommand>>
  readonly readConfig: (env: Env) => ConfigResult<S['config']>
}

/** Runs one command, such as `['jobs', 'list']`. */
export type RunCommand = (argv: readonly string[], options: CommandOptions) => Promise<CommandResult>

/**
 * Makes the function that runs the commands of a program on the stores that the environment names. Expected failures, faults and
 * unexpected errors become `problem` with code 1, wrong arguments with code 2; only an unknown option rejects, with a `TypeError`.
 */
export function commandRunner<S extends HostServices>(program: OperatorProgram<S>): RunCommand {
  return async (argv, options) => {
    checkOptions('runCommand', options, OPTIONS)
    try {
      return { code: 0, ...(await outputOf(program, argv, options)), problem: '' }
    } catch (error) {
      if (error instanceof OutputError && error.readerLeft) return { code: 1, out: '', problem: '' }
      const format = { json: argv.includes('--json'), terminal: options.terminal }
      return failedResult(problemOf(error), error instanceof CommandError ? error.exitCode : 1, format)
    }
  }
}

/** Loads all commands of a program, in the order of its help. */
export async function commandsOf<S extends HostServices>(
  program: OperatorProgram<S>,
): Promise<readonly (Command<S> | StartCommand)[]> {
  const { storeCommands } = await import('./kit-commands.ts')
  const { name, product } = program
  const [{ commands }, onStores] = await Promise.all([program.commands(), storeCommands(product.modules)])
  const all: readonly (Command<S> | StartCommand)[] = [
    migrateCommand(program),
    distributeCommand(program),
    ...commands,
    ...onStores,
    completionCommand(name.split(' ').at(-1) ?? name, () => all),
  ]
  return all
}

async function outputOf<S extends HostServices>(
  program: OperatorProgram<S>,
  argv: readonly string[],
  options: CommandOptions,
): Promise<Pick<CommandResult, 'out' | 'ifUnprinted'>> {
  // Loaded here and not by whoever imports this package to start a host.
  const { parseCommandLine } = await import('../cli/program.ts')
  const commands = await commandsOf(program)
  const { terminal } = options
  const line = parseCommandLine(program, commands, argv, terminal)
  if ('text' in line) return { out: line.text.trimEnd() }
  const { command, json } = line
  const args = await withKeyId(command.takes, line.args, options.input ?? (async () => ''))
  command.check?.(args)
  const output =
    'start' in command
      ? await start(command, { ...line, args }, options)
      : await runOnStores(program, { ...line, args, command }, options)
  const out = json ? jsonText(output.data) : format(output, terminal)
  return 'ifUnprinted' in output ? { out, ifUnprinted: output.ifUnprinted } : { out }
}

function start(
  command: StartCommand,
  { args, json, yes }: Omit<RequestedCommand<StartCommand>, 'command'>,
  { env, ask, input = async () => '', progress = () => {} }: CommandOptions,
): Promise<CommandOutput> {
  const confirm = async (text: string): Promise<void> => {
    if (yes) return
    if (!ask) throw new UsageError(`${command.name} needs --yes without a terminal. ${text}`)
    if (!(await isConfirmed(ask, text))) throw new CommandError('Canceled.', 'canceled')
  }
  return command.start({ env, json, args, input, progress: text => progress(escapedText(text)), confirm })
}

async function isConfirmed(ask: NonNullable<CommandOptions['ask']>, text: string): Promise<boolean> {
  return /^y(?:es)?$/i.test((await ask(`${escapedText(text)}\nContinue? [y/N] `)).trim())
}

/** A command line whose command works on the stores. */
type StoreRequest<S> = RequestedCommand<Command<S>>

async function runOnStores<S extends HostServices>(
  program: OperatorProgram<S>,
  request: StoreRequest<S>,
  options: CommandOptions,
): Promise<CommandOutput> {
  const { command } = request
  const question = request.yes ? undefined : questionOf(request, options.ask)
  const config = program.readConfig(options.env)
  if (!config.ok) throw new CommandError(config.problems.join('\n'))
  if (command.readsStores === false) {
    const folder = await mkdtemp(join(tmpdir(), 'gatewright-'))
    try {
      const empty = { ...config.value, databaseUrl: undefined, dataDir: folder, migrate: true }
      return await runOn(program, request, options, { config: empty, question })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  return runOn(program, request, options, { config: config.value, question })
}

/** Asks the operator about a command; resolves to whether it may run. */
type Question<S> = (services: S) => Promise<boolean>

async function runOn<S extends HostServices>(
  { product }: OperatorProgram<S>,
  { command, args, yes }: StoreRequest<S>,
  { ask, progress = () => {} }: CommandOptions,
  { config, question }: { readonly config: S['config']; readonly question: Question<S> | undefined },
): Promise<CommandOutput> {
  const inHost = (dataDir: string): Promise<CommandOutput | undefined> =>
    runInHost(
      dataDir,
      { name: command.name, args, yes },
      { confirm: async about => ask !== undefined && isConfirmed(ask, about), progress },
    )
  const report = (error: unknown): void => {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
  // No command uses rate limits, so commands work while Redis is down.
  const open = () =>
    openProduct<S>({ ...config, redis: undefined }, product, { observe: () => {}, report, progress })
  const opened = await openOrAskHost(open, () => inHost(config.dataDir))
  if ('output' in opened) return opened.output
  const { services, close } = opened
  try {
    if (question && !(await question(services))) throw new CommandError('Canceled.', 'canceled')
    const output = await command.run(services, args)
    await services.issuer.flush()
    return output
  } finally {
    await close()
  }
}

/** How long a command waits for a data folder that another command has, or whose host is starting, in ms. */
const WAIT_MS = 5000

/**
 * Opens the stores. If another process has the data folder, asks the host there instead; if no host answers either, tries both again for a
 * while.
 */
async function openOrAskHost<T extends object>(
  open: () => Promise<T>,
  askHost: () => Promise<CommandOutput | undefined>,
): Promise<T | { readonly output: CommandOutput }> {
  for (const until = performance.now() + WAIT_MS; ; ) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof DataDirInUse)) throw error
      const output = await askHost()
      if (output) return { output }
      if (performance.now() > until) throw error
      await sleep(50)
    }
  }
}

/** Returns the question to ask before a command runs; undefined if it asks nothing. */
function questionOf<S>(
  { command, args }: StoreRequest<S>,
  ask: CommandOptions['ask'],
): Question<S> | undefined {
  const { confirm, needsConfirmation = () => true, subject, name } = command
  if (confirm === undefined || !needsConfirmation(args)) return undefined
  if (!ask) throw new UsageError(`${name} needs --yes without a terminal. ${confirm}`)
  const itself = `${name} ${args.positional.join(' ')}`
  return async services => {
    const about = subject ? await subject(services, args) : itself
    return isConfirmed(ask, `${about}\n${confirm}`)
  }
}

function format(output: CommandOutput, terminal: Terminal | undefined): string {
  if ('lines' in output) return escapedText(output.lines.join('\n'))
  if ('fields' in output) return fieldTable(output.fields, terminal, Date.now()).join('\n')
  const { table, empty, note } = output
  if (table.rows.length === 0 && empty !== undefined) return empty
  const below = note === undefined ? [] : [escapedText(note)]
  return [...tableLines(table, terminal, Date.now()), ...below].join('\n')
}
