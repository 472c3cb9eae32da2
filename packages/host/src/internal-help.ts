// What the command line needs before it knows which command runs, and to run one alone. It loads nothing else of this package.
export { printResult } from './cli/print.ts'
export { printedHelp } from './cli/program.ts'
export { runAlone } from './cli/run-alone.ts'
export type { CommandHelp } from './cli/command.ts'
export type { ProgramTexts } from './cli/program.ts'
