import { kindOf, type CellKind } from './cell.ts'
import type { Command, CommandArguments, CommandUsage } from './command.ts'

/** The most rows that a list prints, unless its help says otherwise. */
export const MAX_LISTED = 1000

type Value<S, R> = (keyof R & string) | ((row: R, services: S) => unknown)

/**
 * What a column shows: a member of a row, whose name says its kind (`kindOf`), or what a function returns, as text. Another kind is
 * given beside the value.
 */
type ListColumn<S, R> = Value<S, R> | { readonly value: Value<S, R>; readonly kind: CellKind }

/** A command that lists rows. */
export interface ListCommand<S, R> extends CommandUsage, Pick<Command<S>, 'check' | 'readsStores'> {
  /** Reads the rows. With `--json` they are printed as they are. */
  rows(services: S, args: CommandArguments): Promise<readonly R[]>
  /** The columns of the table by their heads. */
  readonly columns: Readonly<Record<string, ListColumn<S, R>>>
  /** Heads of columns that are left out on a terminal that is too narrow, in this order. */
  readonly dropFirst?: readonly string[]
  /** Printed instead of a table without rows. */
  readonly empty?: string
  /** Returns what is printed below the table. */
  note?(rows: readonly R[], args: CommandArguments): string | undefined
}

/** Makes a command that reads rows and prints them as a table. */
export function listCommand<S, R>(list: ListCommand<S, R>): Command<S> {
  const { rows, columns, dropFirst = [], empty, note, ...usage } = list
  const shown = Object.entries(columns).map(([head, column]) => ({ head, ...columnOf(column) }))
  return {
    ...usage,
    async run(services, args) {
      const data = await rows(services, args)
      const values = data.map(row =>
        shown.map(({ value }) => (typeof value === 'function' ? value(row, services) : row[value])),
      )
      const below = note?.(data, args)
      return {
        data,
        table: { columns: shown.map(({ head, kind }) => ({ head, kind })), rows: values, dropFirst },
        ...(empty === undefined ? {} : { empty }),
        ...(below === undefined ? {} : { note: below }),
      }
    },
  }
}

function columnOf<S, R>(
  column: ListColumn<S, R>,
): {
  readonly value: Value<S, R>
  readonly kind: CellKind
} {
  if (typeof column === 'object') return column
  return { value: column, kind: typeof column === 'function' ? 'text' : kindOf(column) }
}
