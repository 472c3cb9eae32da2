import { accountCommands } from './account/commands.ts'
import { backupCommand } from './backup.ts'
import { explainTokenCommand } from './explain-token.ts'
import { listenCommand } from './listen-command.ts'
import { mcpCommand } from './mcp/mcp-command.ts'
import { startCommand } from './start.ts'

/** The commands that open no stores. */
export const commands = [
  startCommand,
  backupCommand,
  explainTokenCommand,
  listenCommand,
  ...accountCommands,
  mcpCommand,
]
