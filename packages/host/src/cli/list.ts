import type { Command, CommandArguments, CommandUsage } from './command.ts'
import { cellText } from './table.ts'

/** The most rows that a list prints, unless its help says otherwise. */
export const MAX_LISTED = 1000

/** A command that lists rows. */
interface ListCommand<S, R> extends CommandUsage {
  /** Reads the rows. With `--json` they are printed as they are. */
  rows(services: S, args: CommandArguments): Promise<readonly R[]>
  /** The columns of the table by their heads: the name of a member of a row, or what is shown of it. */
  readonly columns: Readonly<Record<string, (keyof R & string) | ((row: R, services: S) => unknown)>>
  /** Printed instead of a table without rows. */
  readonly empty?: string
  /** Returns what is printed below the table. */
  note?(rows: readonly R[], args: CommandArguments): string | undefined
}

/** Makes a command that reads rows and prints them as a table. */
export function listCommand<S, R>({ rows, columns, empty, note, ...usage }: ListCommand<S, R>): Command<S> {
  return {
    ...usage,
    async run(services, args) {
      const data = await rows(services, args)
      const cells = data.map(row =>
        Object.values(columns).map(column =>
          cellText(typeof column === 'function' ? column(row, services) : row[column]),
        ),
      )
      const below = note?.(data, args)
      return {
        data,
        table: [Object.keys(columns), ...cells],
        ...(empty === undefined ? {} : { empty }),
        ...(below === undefined ? {} : { note: below }),
      }
    },
  }
}
