import type { CommandError, CommandResult } from './command.ts'
import { escapedText, styled, type Terminal } from '../observability/terminal.ts'

/** What `--json` prints about an error. */
export interface ProblemText {
  readonly error: string
  readonly message: string
}

/** How output is printed: as JSON, or as text for a terminal or for programs. */
export interface OutputFormat {
  readonly json: boolean
  readonly terminal: Terminal | undefined
}

/** Makes the result of a command that failed. */
export function failedResult(
  problem: ProblemText,
  code: CommandError['exitCode'],
  { json, terminal }: OutputFormat,
): CommandResult {
  return { code, out: '', problem: json ? jsonText(problem) : problemText(problem, terminal) }
}

/** Data as `--json` prints it. */
export function jsonText(data: unknown): string {
  return escapedText(JSON.stringify(data, null, 2))
}

function problemText(problem: ProblemText, terminal: Terminal | undefined): string {
  const message = escapedText(problem.message)
  return terminal?.colors ? `${styled('Error:', 'red', terminal)} ${message}` : message
}
