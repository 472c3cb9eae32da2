export { codes, reasons, rules } from './codes.ts'
export { createGuard } from './guard.ts'
export { createFailureLimit } from './limits/failure-limit.ts'
export { createRateLimit } from './limits/rate-limit.ts'
export { DEFAULT_LIMITS } from './options.ts'
export { parsePolicy } from './policy/parse.ts'
export { localKeys, remoteKeys } from './token/keys.ts'
export { sessionReader } from './token/reader.ts'
export type { Rule } from '@gatewright/kernel'
export type { Access, GuardFacts } from './access.ts'
export type { Amount, RateSource } from './amount.ts'
export type {
  Evidence,
  GuardDenial,
  GuardReason,
  GuardRule,
  PolicyDenial,
  SpendDenial,
} from './codes.ts'
export type { FailureLimit } from './limits/failure-limit.ts'
export type { FailureOptions } from './limits/failures.ts'
export type { LimitState } from './limits/fields.ts'
export type { LimiterSettings, LimiterStore, LimitOptions } from './limits/options.ts'
export type { RateLimit } from './limits/rate-limit.ts'
export type { GuardOptions } from './options.ts'
export type { PolicySource } from './policy/chain.ts'
export type { Chain } from './policy/compile.ts'
export type { Policy, PolicyLimit, Window } from './policy/policy.ts'
export type { LiveCheck, RevocationOptions } from './revocation/revocation.ts'
export type { Spend, SpendHold } from './spend.ts'
export type { RevocationFeed } from './storage/feed-port.ts'
export type { Reserved, Settled, SpendItem, SpendStorage } from './storage/port.ts'
export type { KeySet, KeySource, RemoteKeysOptions } from './token/keys.ts'
export type { ForeignClaims } from './token/reader.ts'
export type { SessionReader } from './token/verify.ts'
export type { Guard } from './verbs.ts'
