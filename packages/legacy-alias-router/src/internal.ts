// What the packages of this repository share and no page describes: it may change in any release.
export type { AliasKind, ScopeRename } from './table.ts'
