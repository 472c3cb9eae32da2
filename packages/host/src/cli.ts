export { listCommand } from './cli/list.ts'
export { commandRunner } from './composition/run-program.ts'
export { printResult } from './cli/print.ts'
