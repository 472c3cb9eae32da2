import type { PlannedVersion } from '@gatewright/kernel/internal/sql'
import { CommandError, UsageError, type CommandOutput, type StartCommand } from '../cli/command.ts'
import type { ConfigResult, HostConfig } from '../config/host-config.ts'
import type { Env } from '../config/variable.ts'
import { migrateDatabase, planDatabase } from '../storage/open.ts'
import type { Module } from './module.ts'
import { tablesOf } from './run-host.ts'

/** What migrates: the modules whose tables there are, and where the database is. */
export interface Migrations<C> {
  readonly product: { readonly modules: readonly Pick<Module<never>, 'tables'>[] }
  readonly readConfig: (env: Env) => ConfigResult<C>
}

/** Makes the command that migrates the tables of a program, or says which versions they miss. */
export function migrateCommand<C extends HostConfig>({ product, readConfig }: Migrations<C>): StartCommand {
  return {
    name: 'migrate',
    takes: [],
    flags: {
      check: 'change nothing; exit with 0 if the tables have every version, 3 if not, 1 if that is unknown',
      plan: 'change nothing; print the statements that would run',
    },
    summary: 'Migrate the tables to their newest version',
    example: '--plan',
    check({ flags }) {
      if (flags.size > 1) throw new UsageError('migrate takes --check or --plan, not both')
    },
    async start({ env, args: { flags } }) {
      const config = readConfig(env)
      if (!config.ok) throw new CommandError(config.problems.join('\n'))
      const tables = tablesOf(product)
      if (flags.size === 0) {
        await migrateDatabase(config.value, tables)
        return { data: { migrated: true }, lines: ['The tables are up to date.'] }
      }
      const missing = await planDatabase(config.value, tables)
      if (flags.has('check') && missing.length > 0)
        throw new CommandError(
          `The tables miss ${missing.length === 1 ? 'a version' : `${missing.length} versions`}: ${missing.map(versionName).join(', ')}`,
          'versions_missing',
          3,
        )
      return planOutput(missing)
    },
  }
}

const versionName = ({ namespace, version }: PlannedVersion): string => `${namespace} ${version}`

function planOutput(missing: readonly PlannedVersion[]): CommandOutput {
  if (missing.length === 0) return { data: { missing }, lines: ['The tables are up to date.'] }
  const lines = missing.flatMap(planned => [
    `-- ${versionName(planned)}: hosts must know version ${planned.least}`,
    ...planned.statements.map(statement => `${statement.trim().replace(/;$/, '')};\n`),
  ])
  return { data: { missing }, lines }
}
