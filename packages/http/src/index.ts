export { codes } from './codes.ts'
export { gate } from './gate.ts'
export { byAccept } from './options.ts'
export { parseJsonObject } from './request/body.ts'
export { trustedProxies } from './request/client-address.ts'
export { denialResponse, errorResponse, faultResponse, wire } from './response/http-response.ts'
export { exposedHeaders } from './response/cors.ts'
export { failureResponse, plainRender, storedForm } from './response/outcome.ts'
export { nothingHappened } from '@gatewright/kernel'
export type { HeaderField } from '@gatewright/kernel'
export type { RequestDenial } from './codes.ts'
export type { Gate, GateOptions, OpenGate } from './gate-types.ts'
export type { IdempotencyDialect } from './idempotency/dialect.ts'
export type { Failure, OpenGateOptions, Settings } from './options.ts'
export type {
  AccessLike,
  AliasPort,
  AmountLike,
  CallerIds,
  Credential,
  Credentials,
  GuardPort,
  IdempotencyPort,
  RecordedResponse,
  TransactionPort,
  WireResponse,
  WriteFacts,
} from './ports.ts'
export type { TrustedProxies } from './request/client-address.ts'
export type { CanonicalFacts, OldName, RequestFacts } from './request/facts.ts'
export type { CheckedInput, InputSchemas, StandardSchema } from './request/input.ts'
export type { HttpResponse, ErrorShape } from './response/http-response.ts'
export type { Decision, Observe } from './response/decision.ts'
export type { DenialWithHeaders, Outcome, Render } from './response/outcome.ts'
export type { ProtectedResource } from './response/resource-metadata.ts'
export type {
  AmountCall,
  AuthenticatedRequest,
  GuardedCall,
  Handler,
  HandlerResponse,
  IdempotentCall,
  IdempotentOptions,
  OpenCall,
  OpenHold,
  RouteOptions,
  SpendingCall,
  TransactionContext,
  WriteOptions,
} from './route/handler-types.ts'
export type { CompleteRoute, Route } from './route/steps.ts'
