import { readConfig } from '../config/config.ts'
import { product } from '../composition/host.ts'
import { HOST_VERSION } from '../product/version.ts'
import { explainTokenCommand } from './commands/explain-token.ts'
import { startCommand } from './commands/start.ts'
import { runProgram, type CommandOptions, type CommandResult } from './run.ts'

/**
 * Runs one operator command (`gatewright ARGUMENTS`) on the stores that the environment names. Usage errors, faults
 * and unexpected errors become `problem` with code 1; only an unknown option rejects, with a `TypeError`.
 */
export function runCommand(argv: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const commands = [startCommand, explainTokenCommand]
  return runProgram(
    { name: 'gatewright', version: HOST_VERSION, product, commands, readConfig },
    argv,
    options,
  )
}
