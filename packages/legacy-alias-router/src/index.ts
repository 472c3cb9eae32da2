export { responseHeaders } from './response-headers.ts'
export { assertNoShadowing, dueAliases } from './table-checks.ts'
export { codes } from './codes.ts'
export { legacyPage } from './legacy-page.ts'
export { legacyPaths } from './paths.ts'
export { aliasReport, reportText } from './report.ts'
export { createAliases } from './resolve.ts'
export { isDeprecated, listAliases } from './table.ts'
export { ANONYMOUS, createUsageLog } from './usage-log.ts'
export type { AliasDenial } from './codes.ts'
export type { TranslatedFields } from './fields.ts'
export type { AliasReport } from './report.ts'
export type { Aliases, ResolvedRequest } from './resolve.ts'
export type { TranslatedScopes } from './scopes.ts'
export type { AliasUsage, AliasUsageBatch, AliasUsageKey, AliasUsageStorage } from './storage/port.ts'
export type {
  Alias,
  AliasKind,
  AliasMode,
  AliasTable,
  Deprecation,
  MatchedAlias,
  Rename,
  RequestFieldRename,
  ScopeRename,
} from './table.ts'
export type { UsageLog, UsageLogOptions } from './usage-log.ts'
