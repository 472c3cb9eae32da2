import type { Session, Verdict } from '@gatewright/kernel'
import type { OpenOperation, ReadOperation, WriteOperation } from './operations.ts'
import type { Parts } from './compose.ts'
// From the entry, so that declaration files of users can name them.
import type { OpenRequest, PathParams, Protecting, ReadRequest, WriteRequest } from './index.ts'
import type { Respond } from './requests.ts'

/** A JSON object without a schema. An interface, so that editors show its name. */
interface AnyObject {
  readonly [name: string]: unknown
}

/**
 * Declares the operations of a server and mounts their handlers. `Scope` are the names of your scopes, `Mounted` is what the
 * framework takes as a handler.
 */
export interface Gatewright<Scope extends string, Mounted> extends Parts {
  /** Mounts an operation that anyone may call. */
  open<Body = undefined, Query = undefined, Params = PathParams>(
    operation: string,
    options: OpenOperation<Body, Query, Params>,
    handler: Respond<OpenRequest<Body, Query, Params>>,
  ): Mounted
  /** Mounts an operation that requires a session with a scope, and changes nothing. */
  read<Query = undefined, Params = PathParams>(
    operation: string,
    options: ReadOperation<Scope, Query, Params>,
    handler: Respond<ReadRequest<Query, Params>>,
  ): Mounted
  /** Mounts a write. It requires a session with a scope and an `Idempotency-Key`, and runs once for each key of an account. */
  write<Body = AnyObject, Query = undefined, Params = PathParams>(
    operation: string,
    options: WriteOperation<Scope, Body, Query, Params>,
    handler: Respond<WriteRequest<Body, Query, Params>>,
  ): Mounted
}

/** Tells who calls. */
export interface ReadsSession<Request> {
  /**
   * Returns the session of a request, for middleware that serves many routes, such as tenants and audits. It checks the credential,
   * but no scope, policy or limit: it does not replace `read`, `write` or `protect`. Denials: `unauthorized`, `session_expired`.
   */
  session(request: Request): Promise<Verdict<Session>>
}

/** Protects handlers that a team already has, as a middleware in front of them. */
export interface Protects<Scope extends string, Middleware, Request> extends ReadsSession<Request> {
  /** Requires a session with a scope in front of existing handlers. */
  protectRead<Query = undefined, Params = PathParams>(
    operation: string,
    options: ReadOperation<Scope, Query, Params>,
  ): Protecting<Middleware, Request, ReadRequest<Query, Params>>
  /**
   * Requires a session with a scope and an `Idempotency-Key` in front of an existing handler, whose response is stored and sent
   * again to repeats.
   */
  protectWrite<Body = unknown, Query = undefined, Params = PathParams>(
    operation: string,
    options: WriteOperation<Scope, Body, Query, Params>,
  ): Protecting<Middleware, Request, WriteRequest<Body, Query, Params>>
}

/**
 * A handler from `Request` to `Response` that a team already has, with the accepted request. On Bun, it returns nothing after
 * `server.upgrade(request)`.
 */
export type Existing<Accepted> = (
  request: Request,
  accepted: Accepted,
) => Response | undefined | Promise<Response | undefined>

/** Protects handlers that a team already has, by wrapping them. */
export interface Wraps<Scope extends string, Mounted> {
  /** Requires a session with a scope in front of an existing handler. */
  protectRead<Query = undefined, Params = PathParams>(
    operation: string,
    options: ReadOperation<Scope, Query, Params>,
    existing: Existing<ReadRequest<Query, Params>>,
  ): Mounted
  /**
   * Requires a session with a scope and an `Idempotency-Key` in front of an existing handler, whose response is stored and sent
   * again to repeats.
   */
  protectWrite<Body = unknown, Query = undefined, Params = PathParams>(
    operation: string,
    options: WriteOperation<Scope, Body, Query, Params>,
    existing: Existing<WriteRequest<Body, Query, Params>>,
  ): Mounted
}
