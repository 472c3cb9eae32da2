// What the packages of this repository share and no page describes: it may change in any release.
export type { EndedLineage, KeyLineage } from './keys/lineage.ts'
export { keyPaused } from './keys/pause-key.ts'
export type { SessionRequest } from './sessions/issue-session.ts'
export type { KeyCreator, ListPosition } from './storage/port.ts'
export { laneOfAccount } from './storage/feed-lane.ts'
export { accountsWithSessions, liveKeys } from './storage/sql-live.ts'
export { appendProductAudit } from './storage/sql-audit.ts'
