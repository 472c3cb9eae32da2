/**
 * Returns the rows of a page that are not among those that were read before. If rows are added or removed while a list is read page by page,
 * a page can repeat rows of the page before.
 */
export function newRows<T>(before: readonly T[], page: readonly T[], idOf: (row: T) => string): readonly T[] {
  const known = new Set(before.map(idOf))
  return page.filter(row => {
    const isNew = !known.has(idOf(row))
    known.add(idOf(row))
    return isNew
  })
}
