/** The rows of a table that are due, and how many of them one statement takes. */
export interface DueRows {
  readonly table: string
  /** The columns of its primary key or of another unique index, joined by commas. */
  readonly key: string
  /** The condition in SQL that a row is due. An index needs it. */
  readonly due: string
  /** The column by which the earliest is first. */
  readonly order: string
  /** The parameter with the number of rows, such as `$2`. */
  readonly limit: string
}

/**
 * Returns the condition of an `update` or `delete` that takes some rows which are due, the earliest first. Of hosts that take at the same time,
 * one takes a row: the other waits for it and then finds that it is not due any more, because the condition is repeated. So an `update` must
 * make the rows not due. A lock in the subquery would spare that wait, but on several machines there is none.
 */
export function takesDue({ table, key, due, order, limit }: DueRows): string {
  return `${due} and (${key}) in (select ${key} from ${table} where ${due} order by ${order} limit ${limit})`
}
