import type { EpochMs } from '@gatewright/kernel'
import { aliasReport, type AliasReport, type AliasUsageStorage } from '@gatewright/legacy-alias-router'
import { aliasTable } from '../product/aliases.ts'

/** Reports who still uses which legacy name. */
export function reportAliases(storage: AliasUsageStorage, now: EpochMs): Promise<AliasReport> {
  return aliasReport(storage, aliasTable, now)
}

/** Most callers of one legacy name that the operator page shows. `gatewright aliases report` prints all. */
const MAX_USERS = 20

/** The legacy names that somebody still uses, the most used first, each with its latest callers. */
export function aliasesInUse({ at, aliases }: AliasReport): object {
  const used = aliases.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count)
  return {
    at,
    aliases: used.map(({ users, ...alias }) => ({
      ...alias,
      callers: users.length,
      users: users.slice(0, MAX_USERS),
    })),
    /** Names that still work and that nobody has used. */
    unused: aliases.filter(({ count, mode, observable }) => observable && count === 0 && mode !== 'gone')
      .length,
    /** Names that still work, whose use a server cannot see. */
    unobservable: aliases.filter(({ mode, observable }) => !observable && mode !== 'gone').length,
  }
}
