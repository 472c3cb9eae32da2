/** Checks an integer option. Throws a `TypeError` that names the option, its bounds and what came. */
export function integer(name: string, value: number, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    throw new TypeError(`${name} must be an integer of ${least} to ${most}, not ${String(value)}`)
  }
  return value
}
