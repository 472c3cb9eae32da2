import { attentionCommands } from '../attention/commands.ts'

/** Commands on deposits. */
export const commands = attentionCommands('deposit')
