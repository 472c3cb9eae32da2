/** The prefix of every table unless a team names another. */
export const DEFAULT_PREFIX = 'gw_'

/** Checks a table prefix, which is pasted into SQL. Throws a `TypeError` for anything but `[a-z_][a-z0-9_]{0,30}`. */
export function checkedPrefix(prefix: string): string {
  if (!/^[a-z_][a-z0-9_]{0,30}$/.test(prefix)) {
    throw new TypeError('table prefix must be 1 to 31 of a-z, 0-9 and _, not starting with a digit')
  }
  return prefix
}
