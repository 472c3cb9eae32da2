export { codes } from './codes.ts'
export { gate } from './gate.ts'
export { byAccept } from './options.ts'
export { parseJsonObject } from './request/body.ts'
export { trustedProxies } from './request/client-address.ts'
export { denialResponse, errorResponse, faultResponse, wire } from './response/http-response.ts'
export { exposedHeaders } from './response/cors.ts'
export type { Gate, GateOptions, OpenGate } from './gate-types.ts'
export type {
  AccessLike,
  Credential,
  Credentials,
  GuardPort,
  IdempotencyPort,
  WireResponse,
} from './ports.ts'
export type { Decision, Observe } from './response/decision.ts'
export type { ProtectedResource } from './response/resource-metadata.ts'
export type { Handler, HandlerResponse, IdempotentCall, OpenCall } from './handler-types.ts'
export type { ErrorShape, HttpResponse, RenderedDenial } from './response/http-response.ts'
export type { RequestDenial } from './codes.ts'
export type { RequestFacts } from './request/facts.ts'
export type { TelemetryOptions } from './otel.ts'
export type { TrustedProxies } from './request/client-address.ts'
