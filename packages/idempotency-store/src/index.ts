export { codes } from './codes.ts'
export { createIdempotency } from './idempotency.ts'
export { createLostRuns } from './lost-runs.ts'
export { createOnce, onceResponse } from './once.ts'
export { recordHeaderNames, recordHeaders } from './response/record-headers.ts'
export { classify } from './response/stored-response.ts'
export type { IdempotencyDenial } from './codes.ts'
export type { DecisionNote, RunDecision } from './decision.ts'
export type { Timer } from './execution/timer.ts'
export type { Claim } from './execution/claim.ts'
export type { Completion, Idempotency, IdempotencyOptions, RunOrReplay } from './idempotency.ts'
export type { DescribedRun, ListedLostRun, LostRunList, LostRuns, LostRunsOptions } from './lost-runs.ts'
export type { IdempotencyBaseOptions, LostRun, RecoveryResult } from './options.ts'
export type { FingerprintMode } from './request/fingerprint.ts'
export type { Once, OnceRequest, OnceResult } from './once.ts'
export type { ResponseEncryption, ResponseKey } from './response/encryption.ts'
export type { IdempotentRequest } from './request/identify.ts'
export type { StoredResponse, StoredSpend } from './response/stored-response.ts'
export type {
  BeginResult,
  Ending,
  IdempotencyStorage,
  LostRunPage,
  RunLabel,
  RunRecord,
  TransactionStorage,
} from './storage/port.ts'
