// The command `gatewright`: `bin.js` of this package loads it.
import { text } from 'node:stream/consumers'
import { createInterface } from 'node:readline/promises'
import { printResult } from '@gatewright/host/cli'
import { runCommand } from './run-command.ts'

async function askOnTerminal(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const response = await terminal.question(question)
  terminal.close()
  return response
}

const result = await runCommand(process.argv.slice(2), {
  env: process.env,
  ask: process.stdin.isTTY ? askOnTerminal : undefined,
  terminal: process.stdout.isTTY
    ? { width: process.stdout.columns, colors: process.stdout.hasColors() }
    : undefined,
  input: () => text(process.stdin),
  progress: note => console.error(note),
})
await printResult(result)
