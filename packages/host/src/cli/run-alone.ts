import { CommandError, type CommandResult, type StartCommand } from './command.ts'
import { OutputError } from './print.ts'
import { failedResult } from './problem.ts'
import { parseCommandLine, type ProgramTexts } from './program.ts'
import { escapedText } from '../observability/terminal.ts'

/** What a command that runs alone works with beside its arguments. */
type AloneContext = Pick<Parameters<StartCommand['start']>[0], 'env' | 'progress'>

/**
 * Runs one command of a program without loading the others, for a command that programs start often. It asks nothing, and prints what it has
 * to say itself. `argv` names the command.
 */
export async function runAlone(
  texts: ProgramTexts,
  command: StartCommand,
  argv: readonly string[],
  { env, progress }: AloneContext,
): Promise<CommandResult> {
  try {
    const line = parseCommandLine(texts, [command], argv)
    if ('text' in line) return { code: 0, out: line.text, problem: '' }
    const { args, json } = line
    command.check?.(args)
    const report = (text: string): void => progress(escapedText(text))
    await command.start({ env, args, json, progress: report, input: async () => '', confirm: async () => {} })
    return { code: 0, out: '', problem: '' }
  } catch (error) {
    if (error instanceof OutputError && error.readerLeft) return { code: 1, out: '', problem: '' }
    if (!(error instanceof CommandError)) throw error
    const { code, message, exitCode } = error
    const format = { json: argv.includes('--json'), terminal: undefined }
    return failedResult({ error: code, message }, exitCode, format)
  }
}
