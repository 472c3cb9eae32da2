// Lets a signal end a process by an exit, so that what it has started ends with it (`atExit`).
import { constants } from 'node:os'

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => process.exit(128 + constants.signals[signal]))
