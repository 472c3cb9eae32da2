// What the packages of this repository share and no page describes: it may change in any release.
export { sendWire, setFields } from './bindings/node-response.ts'
export { failureResponse, plainRender, storedForm } from './response/outcome.ts'
export type { RequestDenial } from './codes.ts'
export type { GateOptions } from './gate-types.ts'
export type { IdempotencyDialect } from './idempotency/dialect.ts'
export type { Failure, OpenGateOptions, Settings } from './options.ts'
export type {
  AliasPort,
  AmountLike,
  CallerIds,
  RecordedResponse,
  TransactionPort,
  WireResponse,
  WriteFacts,
} from './ports.ts'
export type { TrustedProxies } from './request/client-address.ts'
export type { CanonicalFacts, OldName, RequestFacts } from './request/facts.ts'
export type { CheckedInput, InputSchemas, StandardSchema } from './request/input.ts'
export type { Observe } from './response/decision.ts'
export type { ErrorShape } from './response/http-response.ts'
export type { DenialWithHeaders, Outcome, Render } from './response/outcome.ts'
export type {
  AmountCall,
  AuthenticatedRequest,
  GuardedCall,
  IdempotentOptions,
  OpenHold,
  RouteOptions,
  SpendingCall,
  TransactionContext,
  WriteOptions,
} from './route/handler-types.ts'
export type { CompleteRoute, Route } from './route/steps.ts'
