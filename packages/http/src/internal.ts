// What the packages of this repository share and no page describes: it may change in any release.
export { sendReply } from './bindings/fastify-reply.ts'
export { sendWire, setFields } from './bindings/node-response.ts'
export { isRedirect } from './response/thrown-response.ts'
export { StreamedBody } from './response/streamed-body.ts'
export { failureResponse, storedForm } from './response/outcome.ts'
export type { IdempotencyDialect } from './idempotency/dialect.ts'
export type { Failure, OpenGateOptions } from './options.ts'
export type { AliasPort, AmountLike, CallerIds, TransactionPort } from './ports.ts'
export { codingDenial } from './request/body.ts'
export type { CanonicalFacts } from './request/facts.ts'
export type { StandardSchema } from './request/input.ts'
export type { DenialWithHeaders } from './codes.ts'
export type { Outcome, Render } from './response/outcome.ts'
export type {
  AmountCall,
  AuthenticatedRequest,
  GuardedCall,
  OpenHold,
  SpendingCall,
  TransactionContext,
} from './handler-types.ts'
export { assertUnguarded, guarding, operationGuardedBy } from './route/guarding.ts'
export type { CompleteRoute, Route } from './route/steps.ts'
export type { CheckedInput } from './request/input.ts'
export type { ConnectListener, ConnectMiddleware, ConnectRequest } from './bindings/connect-types.ts'
export type { FastifyRequest, FastifyRoute } from './bindings/fastify-types.ts'
export type { FetchHandler, HonoContext } from './bindings/fetch-types.ts'
export type { KoaMiddleware } from './bindings/koa-types.ts'
