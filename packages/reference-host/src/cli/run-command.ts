import { checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import { commandRunner, type CommandOptions } from '@gatewright/host/cli'
import type { CommandResult } from '@gatewright/host'
import { readConfig } from '../config/config.ts'
import { product } from '../composition/host.ts'
import { HOST_VERSION } from '../product/version.ts'
import type { Providers } from '../providers/ports.ts'
import { ProductFactories } from '../services/services.ts'

/** The environment of a command, and the providers that the host is started with. */
export interface HostCommandOptions extends CommandOptions {
  /** The same as those of `startHost`. Only `restored` asks them. Default: the built-in ones in a sandbox, none on live. */
  readonly providers?: Providers
}

const OPTIONS: OptionTable<HostCommandOptions> = {
  env: true,
  ask: true,
  input: true,
  terminal: true,
  progress: true,
  providers: true,
}

/**
 * Runs one operator command (`gatewright ARGUMENTS`) on the stores that the environment names. Usage errors, faults
 * and unexpected errors become `problem` with code 1; only an unknown option rejects, with a `TypeError`.
 */
export async function runCommand(argv: readonly string[], given: HostCommandOptions): Promise<CommandResult> {
  checkOptions('runCommand', given, OPTIONS)
  const { providers = {}, ...options } = given
  const services = new ProductFactories({ providers })
  const run = commandRunner({
    name: 'npx gatewright',
    version: HOST_VERSION,
    summary: 'Runs and operates a host. The environment names its stores, as for the host. Times are in UTC.',
    sections: {
      'The host': [
        'start',
        'migrate',
        'distribute',
        'operations',
        'jobs',
        'lost-runs',
        'history',
        'backup',
        'restored',
        'aliases',
      ],
      'Accounts and people': ['users', 'accounts', 'kyc', 'audit'],
      'Keys, sessions, requests': [
        'keys',
        'explain',
        'sessions',
        'requests',
        'partner-keys',
        'signing-keys',
        'data-keys',
      ],
      Money: ['ledger', 'payins', 'deposits', 'withdrawals', 'cards', 'authorizations', 'provider-events'],
      Events: ['events', 'webhooks', 'listen'],
      'Your account, at any host': ['login', 'logout', 'my-keys', 'pay', 'requests tail'],
      'This machine': ['explain-token', 'completion'],
    },
    product: { ...product, services },
    commands: () => import('./commands.ts'),
    readConfig,
  })
  return run(argv, options)
}
