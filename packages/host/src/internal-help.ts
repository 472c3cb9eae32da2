// What the command line needs before it knows which command runs. It loads nothing else of this package.
export { printResult } from './cli/print.ts'
export { printedHelp } from './cli/program.ts'
export type { CommandHelp, CommandResult } from './cli/command.ts'
export type { ProgramTexts } from './cli/program.ts'
