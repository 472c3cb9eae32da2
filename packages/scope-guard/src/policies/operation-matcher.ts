/**
 * Compiles a list of operation ids and `tag.*` patterns to a test of one operation. `cards.*` matches every id that
 * starts with `cards.`, also `cards.limits.list`, but neither `cards` nor `cardsets.list`.
 */
export function operationMatcher(patterns: readonly string[]): (operation: string) => boolean {
  const exact = new Set(patterns.filter(pattern => !pattern.endsWith('.*')))
  const prefixes = patterns.filter(pattern => pattern.endsWith('.*')).map(pattern => pattern.slice(0, -1))
  return operation => exact.has(operation) || prefixes.some(prefix => operation.startsWith(prefix))
}
