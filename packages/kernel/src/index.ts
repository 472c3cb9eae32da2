export { GRACE_MS } from './clock.ts'
export { collectBatches } from './collect.ts'
export { Fault, malformedReply, orFault } from './fault.ts'
export { keyDigest } from './key-digest.ts'
export { nothingHappened } from './nothing-happened.ts'
export {
  FEED_LANES,
  FEED_RETENTION_MS,
  FEED_START,
  memoryFeed,
  positionsAfter,
  redisFeed,
  sqlFeed,
} from './revocation-feed.ts'
export { scopeCatalogue } from './scope.ts'
export { SESSION_TOKEN_TYPE, toClaims } from './session.ts'
export { allow } from './verdict.ts'
export type { FeedChange, FeedEntry, MemoryFeed } from './revocation-feed.ts'
export type { Rule } from './rule.ts'
export type { Session, SessionClaims } from './session.ts'
export type { Denial, Verdict } from './verdict.ts'
export type { Clock, EpochMs } from './clock.ts'
export type { HeaderField } from './header.ts'
export type { ScopeCatalogue } from './scope.ts'
