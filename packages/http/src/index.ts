export { addressClass, trustedProxies } from './address.ts'
export { denialAnswer, errorAnswer, faultAnswer, wire } from './answer.ts'
export { parseJsonObject, readRawBody } from './body.ts'
export { codes } from './codes.ts'
export { exposedHeaders } from './cors.ts'
export { gate } from './gate.ts'
export { byAccept } from './options.ts'
export type { Client, TrustedProxies } from './address.ts'
export type { Answer, ErrorShape, HeaderField } from './answer.ts'
export type { RequestDenial } from './codes.ts'
export type { RequestFacts } from './facts.ts'
export type {
  Gate,
  GateOptions,
  OpenGate,
  OpenGateOptions,
  SpendGate,
  SpendGateOptions,
  WriteGate,
  WriteGateOptions,
} from './gate.ts'
export type { CommonOptions, Failure, Settings } from './options.ts'
export type {
  AccessLike,
  AliasPart,
  AliasQuestion,
  AliasReply,
  BeginReply,
  ClaimLike,
  GuardedRule,
  GuardPart,
  IdempotencyPart,
  RecordedAnswer,
  SpendGuardPart,
  SpendLike,
  SpentLike,
  WireAnswer,
} from './parts.ts'
export type { Handler, HandlerAnswer } from './perform.ts'
export type { GuardedCall, IdempotentCall, OpenCall, Prepare, Route, SpendingCall } from './stages.ts'
