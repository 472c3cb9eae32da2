import { commandsOf } from '@gatewright/host/internal'
import type { CommandHelp } from '@gatewright/host/internal/help'
import { program } from './run-command.ts'

/**
 * What the help says of each command. In the bundle this is data, computed when it was built: help, the version and wrong arguments need
 * no module of a command.
 */
export const commandHelp: readonly CommandHelp[] = await commandsOf(program)
