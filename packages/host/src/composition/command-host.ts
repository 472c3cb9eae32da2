import { Fault } from '@gatewright/kernel'
import { CommandError } from '../cli/command.ts'
import { OutputError } from '../cli/print.ts'
import type { ProblemText } from '../cli/problem.ts'
import { messageOf } from '../records/cause.ts'
import { DataDirUnusable } from '../storage/data-dir-unusable.ts'
import type { CommandHost } from './command-socket.ts'
import { modulesOf, type HostServices } from './host-services.ts'

/** What a host does with the commands that its socket gets. */
export function commandHost(services: HostServices): CommandHost {
  return {
    async commands() {
      // Loaded with the first command: a start needs none.
      const { storeCommands } = await import('./kit-commands.ts')
      return storeCommands(modulesOf(services))
    },
    async run(command, { args, yes }, { confirm, progress }) {
      // The services are made when they are read, so they are not copied.
      const given = Object.create(services, { progress: { value: progress } }) as never
      const { confirm: consequence, needsConfirmation = () => true, subject, name } = command
      if (consequence !== undefined && !yes && needsConfirmation(args)) {
        const about = subject ? await subject(given, args) : `${name} ${args.positional.join(' ')}`
        if (!(await confirm(`${about}\n${consequence}`))) throw new CommandError('Canceled.', 'canceled')
      }
      const output = await command.run(given, args)
      await services.issuer.flush()
      return output
    },
    problemOf: error => ({
      ...problemOf(error),
      exitCode: error instanceof CommandError ? error.exitCode : 1,
    }),
  }
}

/** Says why a command failed. */
export function problemOf(error: unknown): ProblemText {
  if (error instanceof CommandError) return { error: error.code, message: error.message }
  if (error instanceof OutputError) return { error: 'output', message: error.message }
  if (error instanceof DataDirUnusable) return { error: 'in_use', message: error.message }
  const { message, code, cause, stack } = error as NodeJS.ErrnoException
  if (error instanceof Fault)
    return { error: error.code, message: `${message}: ${cause instanceof Error ? messageOf(cause) : code}` }
  return { error: 'unexpected', message: stack ?? String(error) }
}
