/** `$1, $2, ...` for a list of values that starts at parameter `from`. */
export function parameters(count: number, from = 1): string {
  return Array.from({ length: count }, (_, index) => `$${from + index}`).join(', ')
}

/**
 * Repeats the last value up to the next power of two. A statement has another text for each number of values, and a connection
 * keeps each prepared text: so there are a dozen texts and not a thousand.
 */
export function padded<T>(values: readonly T[]): readonly T[] {
  const size = 2 ** Math.ceil(Math.log2(values.length))
  return [...values, ...Array<T>(size - values.length).fill(values.at(-1) as T)]
}

/**
 * A condition that a column has one of these values and the route that each of them contains, with its parameters, which start at `$1`.
 * Values of one account read one partition.
 */
export function whereRouted(
  ids: readonly string[],
  routeOfEach: (id: string) => string,
  column = 'id',
): { readonly text: string; readonly values: readonly string[] } {
  const wanted = padded([...new Set(ids)])
  const routes = padded([...new Set(ids.map(routeOfEach))])
  const text = `route in (${parameters(routes.length)}) and ${column} in (${parameters(wanted.length, routes.length + 1)})`
  return { text, values: [...routes, ...wanted] }
}
