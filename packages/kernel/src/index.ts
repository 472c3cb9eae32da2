export { GRACE_MS, systemClock } from './clock.ts'
export { collectBatches } from './collect.ts'
export { createFairQueue, isClassFull, QUEUE_FULL, runQueued } from './fair-queue.ts'
export { Fault, malformedReply, orFault, toFault } from './fault.ts'
export { keyDigest } from './key-digest.ts'
export { warnMemoryStorage } from './memory-warning.ts'
export { docsLink } from './docs-link.ts'
export { nothingHappened, saysNothingHappened } from './nothing-happened.ts'
export { checkOptions, integerOption } from './options.ts'
export { counterOwner, keyPolicyId } from './policy-id.ts'
export {
  DEFAULT_REDIS_PREFIX,
  endsSession,
  FEED_RETENTION_MS,
  memoryFeed,
  redisFeed,
  sqlFeed,
} from './revocation-feed.ts'
export { checkedRule } from './rule.ts'
export { missingScopes, scopeCatalogue } from './scope.ts'
export { fromClaims, SESSION_TOKEN_TYPE, toClaims } from './session.ts'
export { isStorableText } from './storable-text.ts'
export { shownName, unknownName } from './unknown-name.ts'
export { allow, denier } from './verdict.ts'
export type { Clock, EpochMs } from './clock.ts'
export type { FairQueue, FairQueueOptions } from './fair-queue.ts'
export type { FaultCode } from './fault.ts'
export type { HeaderField } from './header.ts'
export type { OptionRule, OptionTable } from './options.ts'
export type { FeedChange, FeedEntry, MemoryFeed } from './revocation-feed.ts'
export type { Rule } from './rule.ts'
export type { ScopeCatalogue } from './scope.ts'
export type { Session, SessionClaims, Surface } from './session.ts'
export type { CauseText, Denial, DenialExtras, DenialOf, Verdict } from './verdict.ts'
