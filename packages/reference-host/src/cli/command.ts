import type { Clock } from '@gatewright/kernel'
import type { Issuer } from '@gatewright/session-issuer'
import type { Container } from '../composition/container.ts'
import type { PartnerStore } from '../modules/partners/store.ts'
import type { Backend } from '../storage/backend.ts'

/** What a command can use: the stores of the configured host, without an HTTP server. */
export interface CommandContext {
  readonly backend: Backend
  readonly issuer: Issuer
  readonly partners: PartnerStore
  readonly clock: Clock
  readonly container: Container
}

/** What a command prints: `data` with `--json`, else `lines`. */
export interface CommandOutput {
  readonly data: unknown
  readonly lines: readonly string[]
}

/** Arguments after the command's name. */
export interface CommandArguments {
  readonly positional: readonly string[]
  readonly options: Readonly<Record<string, string | undefined>>
  /** Options that take no value. */
  readonly flags: ReadonlySet<string>
}

/** One operator command. */
export interface Command {
  /** Group and verb, such as `partner-keys create`. */
  readonly name: string
  /** Positional arguments, as help shows them. */
  readonly takes: readonly string[]
  /** Options that take a value, with their meaning. */
  readonly options?: Readonly<Record<string, string>>
  /** Options that take no value, with their meaning. */
  readonly flags?: Readonly<Record<string, string>>
  readonly summary: string
  /**
   * Question to confirm before the command runs, unless `--yes` was given. Only for what cannot be undone.
   */
  readonly confirm?: string
  run(context: CommandContext, args: CommandArguments): Promise<CommandOutput>
}

/** A mistake of the operator. The command prints its message without a stack. */
export class UsageError extends Error {}

/** Formats rows as a table with aligned columns. The first row is the head. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => (row[column] ?? '').length)))
  return rows.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] as number))
      .join('  ')
      .trimEnd(),
  )
}
