import type { Clock } from '@gatewright/kernel'
import type { Issuer } from '@gatewright/session-issuer'
import type { Container } from '../composition/container.ts'
import type { PartnerStore } from '../modules/partners/store.ts'
import type { Backend } from '../storage/backend.ts'

/** What commands work with: the stores of the configured host, without a server. */
export interface CommandContext {
  readonly backend: Backend
  readonly issuer: Issuer
  readonly partners: PartnerStore
  readonly clock: Clock
  readonly container: Container
}

/** What a command did: data for `--json`, lines for people. */
export interface CommandOutput {
  readonly data: unknown
  readonly lines: readonly string[]
}

/** Arguments after the command's name: positional ones in order, options by name. */
export interface CommandArguments {
  readonly positional: readonly string[]
  readonly options: Readonly<Record<string, string | undefined>>
  /** Options without a value that were given. */
  readonly flags: ReadonlySet<string>
}

/** One operator command. */
export interface Command {
  /** Group and verb, such as `partner-keys create`. */
  readonly name: string
  /** Positional arguments, as help shows them. */
  readonly takes: readonly string[]
  /** Options with a value, name -> meaning. */
  readonly options?: Readonly<Record<string, string>>
  /** Options without a value, name -> meaning. */
  readonly flags?: Readonly<Record<string, string>>
  readonly summary: string
  /** Asked before anything happens, unless `--yes`. Only for what cannot be taken back. */
  readonly confirm?: string
  run(context: CommandContext, args: CommandArguments): Promise<CommandOutput>
}

/** A mistake of the operator, shown as it is. */
export class UsageError extends Error {}

/** Lines of a table with aligned columns; the first row is the head. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => (row[column] ?? '').length)))
  return rows.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] as number))
      .join('  ')
      .trimEnd(),
  )
}
