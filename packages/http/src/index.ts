export { trustedProxies } from './address.ts'
export { denialAnswer, errorAnswer, faultAnswer, wire } from './answer.ts'
export { parseJsonObject, readRawBody } from './body.ts'
export { codes } from './codes.ts'
export { exposedHeaders } from './cors.ts'
export { gate } from './gate.ts'
export { byAccept } from './options.ts'
export { failureAnswer, plainRender } from './outcome.ts'
export type { Client, TrustedProxies } from './address.ts'
export type { Answer, ErrorShape } from './answer.ts'
export type { HeaderField } from '@gatewright/kernel'
export type { RequestDenial } from './codes.ts'
export type { CallerIds, Decision, Observe } from './decision.ts'
export type { CanonicalFacts, OldName, RequestFacts } from './facts.ts'
export type {
  ByCredential,
  CheckedInput,
  Credentials,
  Gate,
  GateOptions,
  InTransaction,
  OpenGate,
  OpenGateOptions,
  SpendGate,
  SpendGateOptions,
  WriteGate,
  WriteGateOptions,
  WriteOptions,
} from './gate-types.ts'
export type { Input, InputSchemas, StandardSchema } from './input.ts'
export type { CommonOptions, Failure, Settings } from './options.ts'
export type {
  AccessLike,
  AliasPart,
  AliasQuestion,
  AliasReply,
  BeginReply,
  ClaimLike,
  Credential,
  CredentialPart,
  GuardedRule,
  GuardPart,
  IdempotencyPart,
  RecordedAnswer,
  SpendGuardPart,
  SpendLike,
  SpentLike,
  TransactionPart,
  WireAnswer,
  WriteFacts,
} from './parts.ts'
export type { Outcome, Refusal, Render, RenderContext } from './outcome.ts'
export type { Handler, HandlerAnswer } from './perform.ts'
export type {
  CallerCall,
  CompleteRoute,
  Effect,
  Entry,
  GuardedCall,
  IdempotentCall,
  OpenCall,
  Prepare,
  Route,
  RouteOptions,
  SpendingCall,
} from './stages.ts'
