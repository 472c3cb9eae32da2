import { Command as Program, CommanderError, Option } from 'commander'
import {
  asksFirst,
  UsageError,
  type CommandArguments,
  type CommandHelp,
  type CommandResult,
} from './command.ts'
import { SectionedHelp, type HelpOptions, type Sections } from './help.ts'
import { KEY_ARGUMENT_HELP, takesKey } from './key-argument.ts'
import { failedResult } from './problem.ts'
import { wrap, type Terminal } from '../observability/terminal.ts'

/** A parsed command line: a text to print (help, version), or a command to run. */
type CommandLine<C> = { readonly text: string } | RequestedCommand<C>

/** A command to run, with its arguments and the options of every command. */
export interface RequestedCommand<C> {
  readonly command: C
  readonly args: CommandArguments
  readonly json: boolean
  readonly yes: boolean
}

/** The width of help texts if the output is not a terminal, and the widest on one. */
const HELP_WIDTH = 80
const WIDEST_HELP = 100

/** What the help of a program says beside its commands. */
export interface ProgramTexts {
  /** As people type it, such as `npx gatewright`. Completions are of its last word. */
  readonly name: string
  readonly version: string
  /** What it is for, in one sentence. */
  readonly summary: string
  /** The sections of the help by their titles, each with the first words of its commands. Default: one section. */
  readonly sections?: Sections
}

/** Parses the arguments of a program. Throws a `UsageError` that says what is wrong and suggests a similar name. */
export function parseCommandLine<C extends CommandHelp>(
  { name, version, summary, sections = {} }: ProgramTexts,
  commands: readonly C[],
  argv: readonly string[],
  terminal?: Terminal,
): CommandLine<C> {
  const parser = new SectionedProgram(name, { sections, terminal })
  let printed = ''
  let requested: RequestedCommand<C> | undefined
  const print = (text: string): void => {
    printed += text
  }
  configure(parser.description(summary), version, print)
  for (const command of commands) {
    addCommand(parser, command, (positional, leaf) => {
      requested = requestOf(command, positional, leaf)
    })
  }
  const words = argv.length === 0 ? ['help'] : argv
  try {
    parser.parse(words[0] === 'help' ? helpWords(parser, words.slice(1)) : words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
  }
  return requested ?? { text: printed }
}

/**
 * Returns what a command line prints that runs no command: a help text, the version, or what is wrong with it. Undefined for one that
 * names a command. It needs of the commands only what their help says.
 */
export function printedHelp(
  texts: ProgramTexts,
  commands: readonly CommandHelp[],
  argv: readonly string[],
  terminal: Terminal | undefined,
): CommandResult | undefined {
  try {
    const line = parseCommandLine(texts, commands, argv, terminal)
    return 'text' in line ? { code: 0, out: line.text.trimEnd(), problem: '' } : undefined
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const { code, message, exitCode } = error
    return failedResult({ error: code, message }, exitCode, { json: argv.includes('--json'), terminal })
  }
}

/** A commander program whose help texts are those of `SectionedHelp`. */
class SectionedProgram extends Program {
  readonly #help: HelpOptions

  constructor(name: string | undefined, help: HelpOptions) {
    super(name)
    this.#help = help
  }

  override createCommand(name?: string): Program {
    return new SectionedProgram(name, this.#help)
  }

  override createHelp(): SectionedHelp {
    return Object.assign(new SectionedHelp(this.#help), this.configureHelp())
  }

  /** The width of help texts. */
  get helpWidth(): number {
    return Math.min(this.#help.terminal?.width || HELP_WIDTH, WIDEST_HELP)
  }
}

function configure(parser: Program, version: string, print: (text: string) => void): void {
  const width = (): number => (parser as SectionedProgram).helpWidth
  parser
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .helpCommand(false)
    .option('--json', 'print data and errors as JSON')
    // Every command accepts it, so that scripts need not know which ones ask. The help of those that do lists it.
    .addOption(new Option('--yes').hideHelp())
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: print,
      writeErr: print,
      outputError: () => {},
      getOutHelpWidth: width,
      getErrHelpWidth: width,
    })
    .exitOverride(error => refuse(parser, error))
}

/** Adds a command to its group. `request` is called if the command line names the command. */
function addCommand(
  parser: SectionedProgram,
  command: CommandHelp,
  request: (positional: readonly string[], leaf: Program) => void,
): void {
  const { name, takes, options = {}, flags = {}, summary, example, confirm } = command
  const words = name.split(' ')
  const verb = words.at(-1) as string
  const leaf = (words.length === 1 ? parser : groupOf(parser, words[0] as string))
    .command(verb)
    .description(summary)
  for (const argument of takes) leaf.argument(argument.startsWith('[') ? argument : `<${argument}>`)
  for (const [option, meaning] of Object.entries(options)) leaf.option(`--${option} <VALUE>`, meaning)
  for (const [flag, meaning] of Object.entries(flags)) leaf.option(`--${flag}`, meaning)
  if (asksFirst(command)) leaf.option('--yes', 'do not ask before what cannot be undone')
  if (confirm !== undefined) {
    const asks = `Asks first, unless --yes is given. ${confirm}`
    leaf.addHelpText('after', () => `\n${wrap(asks, parser.helpWidth).join('\n')}`)
  }
  if (takesKey(takes))
    leaf.addHelpText('after', () => `\n${wrap(KEY_ARGUMENT_HELP, parser.helpWidth).join('\n')}`)
  const call = `${parser.name()} ${name} ${example}`.trimEnd()
  leaf.addHelpText('after', () => `\nExample:\n  $ ${wrapShell(call, parser.helpWidth - 4).join('\n    ')}`)
  leaf.exitOverride(error => refuse(leaf, error))
  leaf.action(() => request(leaf.args, leaf))
}

/** Breaks a command of a shell into lines of at most `width` columns. An option stays with its value, and the lines can be pasted as they are. */
function wrapShell(command: string, width: number): string[] {
  const lines: string[] = []
  for (const [word] of command.matchAll(/(?:--[a-z-]+ (?!-))?(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)) {
    const last = lines.at(-1)
    // The backslash and the space before it need two columns.
    if (last !== undefined && last.length + 1 + word.length <= width - 2)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.map((line, n) => (n < lines.length - 1 ? `${line} \\` : line))
}

function groupOf(parser: Program, name: string): Program {
  const found = parser.commands.find(each => each.name() === name)
  if (found) return found
  const group = parser.command(name).helpCommand(false)
  return group.exitOverride(error => refuse(group, error))
}

function requestOf<C extends CommandHelp>(
  command: C,
  positional: readonly string[],
  leaf: Program,
): RequestedCommand<C> {
  const values = leaf.optsWithGlobals<Readonly<Record<string, unknown>>>()
  const valueOf = (name: string): unknown =>
    values[leaf.options.find(option => option.name() === name)?.attributeName() ?? name]
  const options = Object.keys(command.options ?? {}).map(name => [name, valueOf(name) as string | undefined])
  const flags = Object.keys(command.flags ?? {}).filter(name => valueOf(name) === true)
  return {
    command,
    args: { positional, options: Object.fromEntries(options), flags: new Set(flags) },
    json: values['json'] === true,
    yes: values['yes'] === true,
  }
}

/**
 * Rewrites `help COMMAND` to `COMMAND --help`. The result ends at the first word that is not a command, so that the parser
 * reports it.
 */
function helpWords(parser: Program, words: readonly string[]): readonly string[] {
  let at = parser
  for (const [index, word] of words.entries()) {
    const next = at.commands.find(each => each.name() === word)
    if (!next)
      return at.commands.length > 0 ? words.slice(0, index + 1) : [...words.slice(0, index), '--help']
    at = next
  }
  return [...words, '--help']
}

/**
 * Throws a `UsageError` for an error of the parser. Help and version are not errors, but commander throws for them, too: that
 * exception is rethrown.
 */
function refuse(at: Program, error: CommanderError): never {
  if (error.code === 'commander.helpDisplayed' || error.code === 'commander.version') throw error
  const path = pathOf(at)
  const reason = (): string => {
    switch (error.code) {
      case 'commander.help':
        return `${path || rootOf(at).name()} needs one of: ${at.commands.map(each => each.name()).join(', ')}`
      case 'commander.missingArgument':
      case 'commander.excessArguments':
        return `${path} takes ${at.registeredArguments.map(each => each.name()).join(' ') || 'no arguments'}`
      case 'commander.unknownCommand':
        return error.message.replace(/^error: unknown command '(.*)'/, (_, word: string) => {
          return `unknown command "${path === '' ? word : `${path} ${word}`}"`
        })
      default:
        return error.message.replace(/^error: /, '')
    }
  }
  throw new UsageError(`${reason()}\nSee ${[rootOf(at).name(), path, '--help'].filter(Boolean).join(' ')}`)
}

function pathOf(command: Program): string {
  const parent = command.parent
  return parent ? `${pathOf(parent)} ${command.name()}`.trimStart() : ''
}

function rootOf(command: Program): Program {
  return command.parent ? rootOf(command.parent) : command
}
