import type { EpochMs } from '@gatewright/kernel'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { SqlValue } from '@gatewright/kernel/sql'

/** Whether an insert must give a member of a record, may give it in place of a default, or cannot. */
export type Given = 'required' | 'optional' | 'never'

/** A member of a record that is stored in one column. */
export interface Column<T, G extends Given = Given> {
  readonly given: G
  /** The column. Undefined: it has the name of the member, in snake case. */
  readonly name?: string
  /** Reads a stored value. Fault: `ERR_STORE_REPLY` for a value that this column cannot have. */
  fromSql(value: unknown): T
  toSql(value: T): SqlValue
}

/** A member of a record that is an object. Each member of the object is stored in one column. */
export interface Group<T, G extends Given = Given> {
  readonly given: G
  readonly columns: Readonly<Record<string, Column<unknown>>>
  /** Only for the type checker: carries the type of the member and has no value. */
  readonly type?: T
}

/** A text. */
export const text: Column<string, 'required'> = {
  given: 'required',
  fromSql: toText,
  toSql: value => value,
}
/** A safe integer, such as an amount in cents. */
export const integer: Column<number, 'required'> = {
  given: 'required',
  fromSql: toInteger,
  toSql: value => value,
}
/** A time, in milliseconds since the epoch. */
export const instant: Column<EpochMs, 'required'> = { ...integer }
/** An integer of any size, stored as its digits. */
export const digits: Column<bigint, 'required'> = {
  given: 'required',
  fromSql: value => BigInt(toText(value)),
  toSql: String,
}
/** True or false, stored as 1 or 0. */
export const flag: Column<boolean, 'required'> = {
  given: 'required',
  fromSql: value => toInteger(value) === 1,
  toSql: Number,
}
/** Words without spaces, stored as one text with spaces between them. Null is read as none. */
export const words: Column<readonly string[], 'required'> = {
  given: 'required',
  fromSql: value => (value === null ? [] : toText(value).split(' ').filter(Boolean)),
  toSql: all => all.join(' '),
}
/** The number of a row, which the database counts up. */
export const position: Column<number, 'never'> = { ...integer, given: 'never' }

/** A text of a known set. Only the DDL can enforce the set; this column does not check it. */
export function oneOf<T extends string>(): Column<T, 'required'> {
  return { given: 'required', fromSql: value => toText(value) as T, toSql: value => value }
}

/** A value that is stored as JSON text. Its form is not checked when it is read. */
export function json<T>(): Column<T, 'required'> {
  return { given: 'required', fromSql: value => JSON.parse(toText(value)) as T, toSql: JSON.stringify }
}

/** A column that may be null, and is null if an insert does not give it. */
export function nullable<T>(column: Column<T, 'required'>): Column<T | null, 'optional'> {
  return {
    ...column,
    given: 'optional',
    fromSql: value => (value === null ? null : column.fromSql(value)),
    toSql: value => (value === null ? null : column.toSql(value)),
  }
}

/** A column with a default value in the database. */
export function defaulted<T>(column: Column<T, 'required'>): Column<T, 'optional'> {
  return { ...column, given: 'optional' }
}

/** The same column under a name of its own. */
export function named<T, G extends Given>(name: string, column: Column<T, G>): Column<T, G> {
  return { ...column, name }
}

export type Values<C> = { readonly [K in keyof C]: C[K] extends Column<infer T> ? T : never }

/** An object whose members are columns. */
export function group<C extends Readonly<Record<string, Column<unknown>>>>(
  columns: C,
): Group<Values<C>, 'required'> {
  return { given: 'required', columns }
}

/** An object whose members are columns. Null is stored as null in all of them, and read if the first of them is null. */
export function nullableGroup<C extends Readonly<Record<string, Column<unknown>>>>(
  columns: C,
): Group<Values<C> | null, 'optional'> {
  return { given: 'optional', columns }
}
