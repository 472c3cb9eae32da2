import type { AliasUsage, AliasUsageStorage } from '../storage/port.ts'

/** The fixed time of the tests. The port takes `now`, so no test waits. */
export const NOW = 1_767_225_600_000

/** Makes a usage row with one instant. */
export const use = (alias: string, caller: string, count = 1, at: number = NOW): AliasUsage => ({
  alias,
  caller,
  count,
  firstSeen: at,
  lastSeen: at,
})

/** Reads all rows of aliases that begin with the name of a test, page by page. */
export async function rowsOf(
  storage: AliasUsageStorage,
  name: string,
  pageRows = 1000,
): Promise<AliasUsage[]> {
  const found: AliasUsage[] = []
  // No row has the alias `name` itself, and every row of the test sorts after it.
  let page = await storage.page({ alias: name, caller: ' ' }, pageRows)
  for (;;) {
    found.push(...page.filter(({ alias }) => alias.startsWith(name)))
    if (page.length < pageRows || !page.at(-1)?.alias.startsWith(name)) return found
    page = await storage.page(page.at(-1), pageRows)
  }
}
