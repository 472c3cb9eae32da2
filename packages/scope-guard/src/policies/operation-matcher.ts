/**
 * Compiles a list of operation ids and `tag.*` patterns to a test of one operation. `cards.*` matches every id that
 * starts with `cards.`, also `cards.limits.list`, but neither `cards` nor `cardsets.list`.
 */
export function operationMatcher(patterns: readonly string[]): (operation: string) => boolean {
  const exact = new Set(patterns.filter(pattern => !pattern.endsWith('.*')))
  const prefixes = patterns.filter(pattern => pattern.endsWith('.*')).map(pattern => pattern.slice(0, -1))
  return operation => exact.has(operation) || prefixes.some(prefix => operation.startsWith(prefix))
}

/**
 * Lists every operation id and `tag.*` pattern that matches an operation: its own id, and `tag.*` up to each of its dots. For a
 * `tag.*` pattern it lists the patterns that match every operation of the tag.
 */
export function patternsOf(operation: string): string[] {
  const patterns = [operation]
  for (let dot = operation.indexOf('.'); dot >= 0; dot = operation.indexOf('.', dot + 1)) {
    const pattern = `${operation.slice(0, dot)}.*`
    if (pattern !== operation) patterns.push(pattern)
  }
  return patterns
}
