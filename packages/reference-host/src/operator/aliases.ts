import type { EpochMs } from '@gatewright/kernel'
import { aliasReport, type AliasUsageStorage, type AliasReport } from '@gatewright/legacy-alias-router'
import { aliasTable } from '../product/aliases.ts'

/** Reports who still uses which legacy name. */
export function reportAliases(storage: AliasUsageStorage, now: EpochMs): Promise<AliasReport> {
  return aliasReport(storage, aliasTable, now)
}

/** How many callers of one legacy name the operator page shows at most. `gatewright aliases report` prints all. */
const MAX_USERS = 20

/** Lists the legacy names that are still used, the most used first, each with its latest callers. */
export function aliasesInUse({ at, aliases }: AliasReport): object {
  const used = aliases.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count)
  return {
    at,
    aliases: used.map(({ users, ...alias }) => ({
      ...alias,
      callers: users.length,
      users: users.slice(0, MAX_USERS),
    })),
    /** The names that still work and were never used. */
    unused: aliases.filter(({ count, mode, observable }) => observable && count === 0 && mode !== 'gone')
      .length,
    /** How many names still work whose use a server cannot see. */
    unobservable: aliases.filter(({ mode, observable }) => !observable && mode !== 'gone').length,
  }
}
