export { checkShadowing, dueAliases } from './check.ts'
export { codes } from './codes.ts'
export { answerHeaders } from './notices.ts'
export { legacyPage } from './page.ts'
export { legacyPaths } from './paths.ts'
export { aliasReport, reportText } from './report.ts'
export { createAliases } from './resolve.ts'
export { isDeprecated, listAliases } from './table.ts'
export { ANONYMOUS, createUsageLog } from './usage.ts'
export type { DueAlias } from './check.ts'
export type { AliasDenial } from './codes.ts'
export type { FieldsRead } from './fields.ts'
export type { LegacyPath } from './paths.ts'
export type { AliasReport, ReportedAlias, ReportedUser } from './report.ts'
export type { Aliases, AliasFacts, Resolved } from './resolve.ts'
export type { ScopesRead } from './scopes.ts'
export type { AliasUsage, AliasUsageBatch, AliasUsageKey, AliasUsageStorage } from './storage/port.ts'
export type {
  Alias,
  AliasKind,
  AliasMode,
  AliasTable,
  AliasUse,
  Deprecated,
  Rename,
  RequestFieldRename,
  ScopeRename,
} from './table.ts'
export type { UsageLog, UsageLogOptions } from './usage.ts'
