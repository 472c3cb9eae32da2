/** A mutation that changes nothing that a caller could see. */
export interface Equivalent {
  /** The source file. */
  readonly source: string
  /** The compiled line, before and after. */
  readonly before: string
  readonly after: string
  readonly reason: string
}

/** Mutations that no test can notice. They do not count. */
export const EQUIVALENTS: readonly Equivalent[] = []

/**
 * Whether a mutation leaves the order of a comparator for `sort` as it is: it returns 2 for 1, or it takes items for different that are
 * equal, which ids and names are not.
 */
export function keepsOrder({ before, after }: Pick<Equivalent, 'before' | 'after'>): boolean {
  if (!before.includes('? -1 : 1')) return false
  return [
    before.replace(' < b', ' <= b'),
    before.replace(' > b', ' >= b'),
    before.replace('? -1 :', '? -2 :'),
    before.replace(': 1', ': 2'),
  ].some(changed => changed !== before && changed === after)
}
