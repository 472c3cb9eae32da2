/** The default prefix of every table. */
export const DEFAULT_PREFIX = 'gw_'

/** Returns a table prefix that is safe to insert into SQL. Throws a `TypeError` unless it matches `[a-z_][a-z0-9_]{0,30}`. */
export function checkedPrefix(prefix: string): string {
  if (!/^[a-z_][a-z0-9_]{0,30}$/.test(prefix)) {
    throw new TypeError(
      `table prefix must be 1 to 31 characters of a-z, 0-9 and _, not starting with a digit, got ${JSON.stringify(prefix)}`,
    )
  }
  return prefix
}
