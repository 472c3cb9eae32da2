// What the packages of this repository share and no page describes: it may change in any release.
export { sendReply } from './bindings/fastify-reply.ts'
export { sendWire, setFields } from './bindings/node-response.ts'
export { isRedirect } from './response/thrown-response.ts'
export { StreamedBody } from './response/streamed-body.ts'
export { failureResponse, plainRender, storedForm } from './response/outcome.ts'
export type { RequestDenial } from './codes.ts'
export type { GateOptions } from './gate-types.ts'
export type { IdempotencyDialect } from './idempotency/dialect.ts'
export type { Failure, OpenGateOptions, Settings } from './options.ts'
export type {
  AliasPort,
  AmountLike,
  CallerIds,
  Credentials,
  RecordedResponse,
  TransactionPort,
  WireResponse,
  WriteFacts,
} from './ports.ts'
export { codingDenial } from './request/body.ts'
export type { TrustedProxies } from './request/client-address.ts'
export type { CanonicalFacts, OldName, RequestFacts } from './request/facts.ts'
export type { CheckedInput, InputSchemas, StandardSchema } from './request/input.ts'
export type { Observe } from './response/decision.ts'
export type { ErrorShape, HttpResponse } from './response/http-response.ts'
export type { DenialWithHeaders } from './codes.ts'
export type { Outcome, Render } from './response/outcome.ts'
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
} from './handler-types.ts'
export { assertUnguarded, guarding } from './route/guarding.ts'
export type { CompleteRoute, Route } from './route/steps.ts'
export type { ConnectListener, ConnectMiddleware, ConnectRequest } from './bindings/connect-types.ts'
export type { FastifyApp, FastifyReply, FastifyRequest, FastifyRoute } from './bindings/fastify-types.ts'
export type { FetchGateOptions, FetchHandler, HonoContext } from './bindings/fetch-types.ts'
export type { KoaMiddleware } from './bindings/koa-types.ts'
export type { BodyChoice } from './bindings/node-body.ts'
