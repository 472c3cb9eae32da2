// What commands need that open no stores. It loads nothing else of this package.
export { CommandError, UsageError } from './cli/command.ts'
export { printLine } from './cli/print.ts'
export { escapedLine } from './observability/terminal.ts'
export { createPrivateFile, replacePrivateFile } from './storage/private-file.ts'
