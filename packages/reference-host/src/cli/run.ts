import { parseArgs } from 'node:util'
import { Fault } from '@gatewright/kernel'
import { createContainer } from '../composition/container.ts'
import * as token from '../composition/registrations.ts'
import { readConfig } from '../config/config.ts'
import { DataDirUnusable } from '../storage/data-dir-unusable.ts'
import { openStores } from '../storage/open.ts'
import { UsageError, tableLines, type CommandArguments, type Command } from './command.ts'
import { aliasCommands } from './commands/aliases.ts'
import { auditCommands } from './commands/audit.ts'
import { credentialCommands } from './commands/credentials.ts'
import { hostCommands } from './commands/host.ts'
import { jobCommands } from './commands/jobs.ts'
import { kycCommands } from './commands/kyc.ts'
import { ledgerCommands } from './commands/ledger.ts'
import { partnerKeyCommands } from './commands/partner-keys.ts'
import { payinCommands } from './commands/payins.ts'

const COMMANDS: readonly Command[] = [
  ...partnerKeyCommands,
  ...credentialCommands,
  ...auditCommands,
  ...ledgerCommands,
  ...payinCommands,
  ...kycCommands,
  ...jobCommands,
  ...aliasCommands,
  ...hostCommands,
]

function help(): string {
  const usage = COMMANDS.map(({ name, takes, summary }) => [`  ${[name, ...takes].join(' ')}`, summary])
  const options = COMMANDS.flatMap(({ name, options = {}, flags = {} }) => [
    ...Object.entries(options).map(([option, meaning]) => [`  ${name} --${option} VALUE`, meaning]),
    ...Object.entries(flags).map(([flag, meaning]) => [`  ${name} --${flag}`, meaning]),
  ])
  const common = [
    ['  --json', 'print data instead of lines'],
    ['  --yes', 'do not ask before what cannot be taken back'],
  ]
  const head = 'gatewright COMMAND [--json] [--yes]\n\nThe environment names the stores, as for the host.\n'
  return [head, ...tableLines([...usage, ...options, ...common])].join('\n')
}

function parse(
  argv: readonly string[],
): { command: Command; args: CommandArguments; json: boolean; yes: boolean } | undefined {
  const known = COMMANDS.flatMap(({ options = {} }) => Object.keys(options))
  const flags = COMMANDS.flatMap(command => Object.keys(command.flags ?? {}))
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      ...Object.fromEntries(known.map(name => [name, { type: 'string' } as const])),
      ...Object.fromEntries(flags.map(name => [name, { type: 'boolean' } as const])),
      json: { type: 'boolean' },
      yes: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  if (values['help'] === true || positionals.length === 0) return undefined
  const command = COMMANDS.find(({ name }) => {
    const words = name.split(' ')
    return words.every((word, index) => positionals[index] === word)
  })
  if (!command)
    throw new UsageError(`unknown command "${positionals.slice(0, 2).join(' ')}": see gatewright --help`)
  const positional = positionals.slice(command.name.split(' ').length)
  if (positional.length !== command.takes.length) {
    throw new UsageError(`${command.name} takes ${command.takes.join(' ') || 'no arguments'}`)
  }
  const given = values as Readonly<Record<string, unknown>>
  const options = given as CommandArguments['options']
  return {
    command,
    args: { positional, options, flags: new Set(flags.filter(name => given[name] === true)) },
    json: values['json'] === true,
    yes: values['yes'] === true,
  }
}

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
}

/**
 * Runs one operator command (`gatewright ARGUMENTS`) on the stores that the environment names. Never rejects:
 * usage errors, faults and unexpected errors become `problem` with code 1.
 */
export async function runCommand(argv: readonly string[], setting: CommandOptions): Promise<CommandResult> {
  try {
    return { code: 0, out: await outputOf(argv, setting), problem: '' }
  } catch (error) {
    return { code: 1, out: '', problem: problemOf(error) }
  }
}

async function outputOf(argv: readonly string[], { env, ask }: CommandOptions): Promise<string> {
  const parsed = parse(argv)
  if (!parsed) return help()
  const { command, args, json, yes } = parsed
  if (!yes && !(await confirmed(command, ask))) return 'Nothing was done.'
  const config = readConfig(env)
  if (!config.ok) throw new UsageError(config.problems.join('\n'))
  const { backend, secrets, close } = await openStores(config.value)
  try {
    const container = createContainer()
    container.bind(token.CONFIG, () => config.value)
    container.bind(token.BACKEND, () => backend)
    container.bind(token.SECRETS, () => secrets)
    const issuer = container.get(token.ISSUER)
    const context = {
      ...{ backend, container, issuer },
      partners: container.get(token.PARTNERS),
      clock: container.get(token.CLOCK),
    }
    const { data, lines } = await command.run(context, args)
    await issuer.flush()
    return json ? JSON.stringify(data, null, 2) : lines.join('\n')
  } finally {
    await close()
  }
}

async function confirmed({ confirm, name }: Command, ask: CommandOptions['ask']): Promise<boolean> {
  if (confirm === undefined) return true
  if (!ask) throw new UsageError(`${name} needs --yes where nobody can be asked. ${confirm}`)
  return /^y(?:es)?$/i.test((await ask(`${confirm} Go on? [y/N] `)).trim())
}

function problemOf(error: unknown): string {
  const { message, code, cause, stack } = error as NodeJS.ErrnoException
  const expected =
    error instanceof UsageError || error instanceof DataDirUnusable || code?.startsWith('ERR_PARSE_ARGS')
  if (expected) return message
  if (error instanceof Fault) return `${message}: ${cause instanceof Error ? cause.message : code}`
  return stack ?? String(error)
}
