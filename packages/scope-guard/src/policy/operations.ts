/**
 * Whether an operation is in a list of ids and `tag.*` patterns, compiled once. `cards.*` takes every id that
 * starts with `cards.`, deeper ones included, and not `cards` or `cardsets.list`.
 */
export function operationMatcher(patterns: readonly string[]): (operation: string) => boolean {
  const exact = new Set(patterns.filter(pattern => !pattern.endsWith('.*')))
  const prefixes = patterns.filter(pattern => pattern.endsWith('.*')).map(pattern => pattern.slice(0, -1))
  return operation => exact.has(operation) || prefixes.some(prefix => operation.startsWith(prefix))
}
