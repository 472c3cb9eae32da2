// The command `gatewright`: `bin.js` of this package loads it.
import { text } from 'node:stream/consumers'
import { createInterface } from 'node:readline/promises'
import type { CommandResult } from '@gatewright/host'
import { printedHelp, printResult } from '@gatewright/host/internal/help'
import { commandHelp } from './command-help.ts'
import { programTexts } from './program-texts.ts'

async function askOnTerminal(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const response = await terminal.question(question)
  terminal.close()
  return response
}

const argv = process.argv.slice(2)
const terminal = process.stdout.isTTY
  ? { width: process.stdout.columns, colors: process.stdout.hasColors() }
  : undefined

async function run(): Promise<CommandResult> {
  const progress = (note: string): void => console.error(note)
  if (argv[0] === 'mcp') {
    const { runMcp } = await import('./mcp/run-mcp.ts')
    return runMcp(argv, { env: process.env, progress })
  }
  const { runCommand } = await import('./run-command.ts')
  return runCommand(argv, {
    env: process.env,
    ask: process.stdin.isTTY ? askOnTerminal : undefined,
    terminal,
    input: () => text(process.stdin),
    progress,
  })
}

await printResult(printedHelp(programTexts, commandHelp, argv, terminal) ?? (await run()))
