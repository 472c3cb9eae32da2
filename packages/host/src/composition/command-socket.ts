import { chmod, lstat, rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { messages, send, type Message } from './command-messages.ts'
import { CommandError, type Command, type CommandArguments, type CommandOutput } from '../cli/command.ts'

/** A command that another process sends to the host that holds its data folder. */
export interface SentCommand {
  readonly name: string
  readonly args: CommandArguments
  /** Whether the operator has confirmed it beforehand. */
  readonly yes: boolean
}

/** What runs commands in the process of a host, and says how a failure is reported. */
export interface CommandHost {
  readonly commands: () => Promise<readonly Command<never>[]>
  /** Runs a command with the services of the host. */
  readonly run: (
    command: Command<never>,
    sent: SentCommand,
    operator: {
      /** Asks the operator; resolves to false after a no, and if the operator has gone. */
      readonly confirm: (about: string) => Promise<boolean>
      readonly progress: (text: string) => void
    },
  ) => Promise<CommandOutput>
  readonly problemOf: (error: unknown) => Problem
}

/** Why a command failed, as `--json` prints it, and the exit code. */
interface Problem {
  readonly error: string
  readonly message: string
  readonly exitCode: CommandError['exitCode']
}

/** Where a host with an embedded database takes commands. */
const pathIn = (dataDir: string): string => join(dataDir, 'host.sock')
/** The most bytes of the address of a Unix socket, on macOS. Linux has four more. */
const MAX_PATH_BYTES = 103
const MAX_CONNECTIONS = 8
/** How long an operator may take to send a command, in ms, and to answer a question. */
const SEND_MS = 5000
const ANSWER_MS = 600_000

/**
 * Takes commands for a host on a Unix socket in its data folder, which must be locked: a socket that is there was left by a process that
 * was killed. Only the user of the host can open it. Undefined if the path is too long for a socket. Rejects if it cannot listen.
 */
export async function serveCommands(
  dataDir: string,
  host: CommandHost,
): Promise<{ close(): Promise<void> } | undefined> {
  const path = pathIn(dataDir)
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return undefined
  await rm(path, { force: true })
  const open = new Set<Promise<void>>()
  const server = createServer(socket => {
    socket.on('error', () => {})
    const answered = answer(socket, host).finally(() => open.delete(answered))
    open.add(answered)
  })
  server.maxConnections = MAX_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    // The socket gets its mode when it is made: nobody can open it before it is restricted.
    const mask = process.umask(0o177)
    try {
      server.once('error', reject).listen(path, resolve)
    } finally {
      process.umask(mask)
    }
  })
  await chmod(path, 0o600)
  return {
    async close() {
      const closed = new Promise(resolve => server.close(resolve))
      await Promise.all(open)
      await closed
    },
  }
}

async function answer(socket: Socket, host: CommandHost): Promise<void> {
  const received = messages(socket)
  try {
    const sent = sentCommand(await received.next(SEND_MS))
    const command = (await host.commands()).find(each => each.name === sent.name)
    if (!command || !isWellFormed(command, sent.args)) throw wrongMessage()
    command.check?.(sent.args)
    if (command.besideHost === false)
      throw new CommandError(`${command.name} cannot run beside a host: stop the host first`, 'in_use')
    const output = await host.run(command, sent, {
      async confirm(about) {
        send(socket, { question: about })
        return (await received.next(ANSWER_MS).catch(() => undefined))?.['confirmed'] === true
      },
      progress: text => send(socket, { progress: text }),
    })
    send(socket, { output })
  } catch (error) {
    send(socket, { problem: host.problemOf(error) })
  } finally {
    socket.end()
  }
}

const wrongMessage = (): CommandError =>
  new CommandError('the host does not know this command: it may have another version', 'usage', 2)

function sentCommand(message: Message | undefined): SentCommand {
  const { name, positional, options, flags, yes } = message ?? {}
  if (typeof name !== 'string' || typeof yes !== 'boolean' || !areTexts(positional) || !areTexts(flags))
    throw wrongMessage()
  if (typeof options !== 'object' || options === null || !areTexts(Object.values(options)))
    throw wrongMessage()
  const given = options as Readonly<Record<string, string>>
  return { name, args: { positional, options: given, flags: new Set(flags) }, yes }
}

const areTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(each => typeof each === 'string')

function isWellFormed(
  { takes, options = {}, flags = {} }: Command<never>,
  { positional, ...given }: CommandArguments,
): boolean {
  const required = takes.filter(name => !name.startsWith('['))
  return (
    positional.length >= required.length &&
    positional.length <= takes.length &&
    Object.keys(given.options).every(name => Object.hasOwn(options, name)) &&
    [...given.flags].every(name => Object.hasOwn(flags, name))
  )
}

/**
 * Runs a command in the host that holds a data folder. Undefined if no host takes commands there now: the folder is free, its host is starting, or
 * another command has it. `confirm` asks the operator. Throws a `CommandError` for a failure of the command, and if the host ends meanwhile.
 */
export async function runInHost(
  dataDir: string,
  { name, args, yes }: SentCommand,
  operator: {
    readonly confirm: (about: string) => Promise<boolean>
    readonly progress: (text: string) => void
  },
): Promise<CommandOutput | undefined> {
  const socket = await connect(pathIn(dataDir))
  if (!socket) return undefined
  try {
    const received = messages(socket)
    const { positional, options, flags } = args
    send(socket, { name, positional, options, flags: [...flags], yes })
    for (;;) {
      const message = await received.next()
      if (message === undefined)
        throw new CommandError(
          'the host ended before it responded: the command may have taken effect. Look, and repeat it',
          'unknown_outcome',
        )
      if (typeof message['progress'] === 'string') operator.progress(message['progress'])
      if (typeof message['question'] === 'string')
        send(socket, { confirmed: await operator.confirm(message['question']) })
      if (message['problem'] !== undefined) {
        const { message: text, error, exitCode } = message['problem'] as Problem
        throw new CommandError(text, error, exitCode)
      }
      if (message['output'] !== undefined) return message['output'] as CommandOutput
    }
  } finally {
    socket.destroy()
  }
}

/** Opens a socket of this process's user or of root. Undefined if nobody listens. Throws a `CommandError` if it belongs to somebody else. */
async function connect(path: string): Promise<Socket | undefined> {
  const found = await lstat(path).catch(() => undefined)
  if (!found?.isSocket()) return undefined
  const own = process.getuid?.()
  if (own !== undefined && own !== 0 && found.uid !== own)
    throw new CommandError(`${path} belongs to another user: run the command as the user of the host`)
  const socket = createConnection(path)
  socket.on('error', () => {})
  return new Promise(resolve => {
    socket.once('connect', () => resolve(socket)).once('close', () => resolve(undefined))
  })
}
