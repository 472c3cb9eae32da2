import { distributing, type Placement } from '@gatewright/kernel/internal/sql'
import { CommandError, type StartCommand } from '../cli/command.ts'
import type { HostConfig } from '../config/host-config.ts'
import { distributeDatabase } from '../storage/open.ts'
import type { Migrations } from './migrate-command.ts'
import { tablesOf } from './run-host.ts'

/** Makes the command that distributes the tables of a program on the machines of Citus, by the marks of its DDL. */
export function distributeCommand<C extends HostConfig>({
  product,
  readConfig,
}: Migrations<C>): StartCommand {
  return {
    name: 'distribute',
    takes: [],
    flags: {
      plan: 'change nothing; print the statements that would run',
      concurrently:
        'while hosts write: they wait only for tables that refer to others; restart them afterwards',
    },
    summary: 'Distribute the tables on the machines of Citus',
    example: '--plan',
    asks: true,
    async start({ env, args: { flags }, progress, confirm }) {
      const config = readConfig(env)
      if (!config.ok) throw new CommandError(config.problems.join('\n'))
      const concurrently = flags.has('concurrently')
      const lines = (left: readonly Placement[]): string[] =>
        left.map(placement => `${distributing(placement)};`)
      const approve = async (left: readonly Placement[]): Promise<boolean> => {
        if (left.length === 0 || flags.has('plan')) return false
        await confirm(`${lines(left).join('\n')}\nEach table is copied to the machines and locked meanwhile.`)
        return true
      }
      const request = { concurrently, approve, progress }
      const left = await distributeDatabase(config.value, tablesOf(product), request)
      const tables = left.map(({ table, column = null }) => ({ table, column }))
      if (left.length === 0) return { data: { tables }, lines: ['All tables are distributed.'] }
      return flags.has('plan')
        ? { data: { tables }, lines: lines(left) }
        : { data: { tables }, lines: [`${left.length} tables were distributed.`] }
    },
  }
}
