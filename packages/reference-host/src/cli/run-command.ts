import { checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import { commandRunner, type CommandOptions, type OperatorProgram } from '@gatewright/host/cli'
import type { CommandResult } from '@gatewright/host'
import { readConfig } from '../config/config.ts'
import { product } from '../composition/host.ts'
import type { Providers } from '../providers/ports.ts'
import { ProductFactories, type Services } from '../services/services.ts'
import { programTexts } from './program-texts.ts'

/** The environment of a command, and the providers that the host is started with. */
export interface HostCommandOptions extends CommandOptions {
  /** The same as those of `startHost`. Only `restored` asks them. Default: the built-in ones in a sandbox, none on live. */
  readonly providers?: Providers
}

/** The commands of this product, with the built-in providers. */
export const program: OperatorProgram<Services> = {
  ...programTexts,
  product,
  commands: () => import('./commands.ts'),
  readConfig,
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
  return commandRunner({ ...program, product: { ...product, services } })(argv, options)
}
