// What the packages of this repository share and no page describes: it may change in any release.
export type { TranslatedFields } from './fields.ts'
export type { ResolvedRequest } from './resolve.ts'
export type { AliasUsageBatch } from './storage/port.ts'
export type { AliasKind, Rename, ScopeRename } from './table.ts'
