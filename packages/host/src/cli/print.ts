import type { CommandResult } from './command.ts'

/** The standard output cannot be written. */
export class OutputError extends Error {
  /** Whether its reader has gone, as `head` does when it has seen enough. Nothing is said about that. */
  readonly readerLeft: boolean

  constructor(cause: NodeJS.ErrnoException) {
    super(`cannot write the output: ${cause.message}`, { cause })
    this.readerLeft = cause.code === 'EPIPE'
  }
}

/** Writes to a stream of the process. Resolves to the error if that fails. A stream without a listener would end the process with a stack. */
function write(stream: NodeJS.WriteStream, text: string): Promise<NodeJS.ErrnoException | undefined> {
  if (stream.listenerCount('error') === 0) stream.on('error', () => {})
  return new Promise(resolve => {
    stream.write(text, error => resolve(error ?? undefined))
  })
}

/** Prints a line of a command that goes on. Rejects with an `OutputError`, which ends the command. */
export async function printLine(text: string): Promise<void> {
  const error = await write(process.stdout, `${text}\n`)
  if (error) throw new OutputError(error)
}

/**
 * Prints the result of a command and sets the exit code of the process: 1 if the output cannot be written. Then standard error says so, and how to get a
 * secret that was shown only now. It says nothing if the reader of another output has gone.
 */
export async function printResult({ code, out, problem, ifUnprinted }: CommandResult): Promise<void> {
  process.exitCode = code
  const error = out === '' ? undefined : await write(process.stdout, `${out}\n`)
  if (error) process.exitCode = 1
  const failure = error && new OutputError(error)
  const lines = [
    problem,
    failure && !(failure.readerLeft && ifUnprinted === undefined) ? failure.message : '',
    failure ? (ifUnprinted ?? '') : '',
  ].filter(line => line !== '')
  if (lines.length > 0) await write(process.stderr, `${lines.join('\n')}\n`)
}
