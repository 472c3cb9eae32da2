import { runAlone } from '@gatewright/host/internal/help'
import { programTexts } from '../program-texts.ts'
import { mcpCommand } from './mcp-command.ts'

/** Runs `gatewright mcp` without loading the host: a client of an agent starts it for each session. */
export const runMcp = runAlone.bind(undefined, programTexts, mcpCommand)
