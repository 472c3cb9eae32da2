import type { AliasUsage, AliasUsageStorage } from '../storage/port.ts'

/** Fixed for the suite: the port takes `now`, so nothing here waits. */
export const NOW = 1_767_225_600_000

/** A row of usage at one instant. */
export const use = (alias: string, principal: string, count = 1, at: number = NOW): AliasUsage => ({
  ...{ alias, principal, count },
  firstSeen: at,
  lastSeen: at,
})

/** The rows of aliases that start with a test's own name, over as many pages as it takes. */
export async function rowsOf(
  storage: AliasUsageStorage,
  name: string,
  pageRows = 1000,
): Promise<AliasUsage[]> {
  const found: AliasUsage[] = []
  // `name` is no row itself, and every row of the test sorts after it.
  let page = await storage.page({ alias: name, principal: ' ' }, pageRows)
  for (;;) {
    found.push(...page.filter(({ alias }) => alias.startsWith(name)))
    if (page.length < pageRows || !page.at(-1)?.alias.startsWith(name)) return found
    page = await storage.page(page.at(-1), pageRows)
  }
}
