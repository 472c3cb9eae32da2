import type { TrustedProxies } from './request/client-address.ts'
import type { ErrorShape } from './response/http-response.ts'
import type { Observe } from './response/decision.ts'
import type { DialectTerms } from './idempotency/dialect.ts'
import type { Hints } from './response/hint.ts'
import type { RequestFacts } from './request/facts.ts'
import type { AliasPort, Credentials } from './ports.ts'
import type { Render } from './response/outcome.ts'
import type { ProtectedResource, ResourceMetadata } from './response/resource-metadata.ts'

/** A failed request: a fault or an unexpected error. It contains no request body, header or key. */
export interface Failure {
  /** The id of the operation, or method and path if no operation was found. */
  readonly operation: string
  readonly error: unknown
}

/** Options of every gate. A gate without a guard serves open operations, and operations with its own credentials. */
export interface OpenGateOptions<K extends Credentials = Credentials> {
  /** Translates old names of paths, headers and fields. */
  readonly aliases?: AliasPort
  /** Kinds of credentials beside the guard's `session`, by name. */
  readonly credentials?: K
  /** The shape of errors. Default `plain`. `byAccept(shape)` sends a problem document to clients that accept one. */
  readonly errors?: ErrorShape | ((facts: RequestFacts) => ErrorShape)
  /** CIDRs of your proxies, whose `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Request-Id` are trusted; `unix` is a proxy on a Unix socket. Default: none. */
  readonly trustProxy?: readonly string[]
  /** Denies plain HTTP with 403 `https_required`, before anything else is decided. Default false. */
  readonly requireHttps?: boolean
  /** Largest request body, in bytes, 0 to 16 777 216, default 262 144. */
  readonly bodyLimitBytes?: number
  /** Largest captured response stored for replay, in bytes, 0 to 16 777 216, default 262 144. Above the limit, only the status is stored. */
  readonly responseLimitBytes?: number
  /** Sends `Access-Control-Expose-Headers` with `exposedHeaders` to requests with `Origin`. Default false. */
  readonly exposeHeaders?: boolean
  /**
   * Renders every response of the gate from its outcome, instead of `errors`, for example in an envelope. The response of a
   * handler that uses its framework (`guard(route)`) is not rendered. If `render` throws, the response is a 500.
   */
  readonly render?: Render
  /** Receives one decision event per request that the gate or a handler responds to. Default: none. */
  readonly observe?: Observe
  /**
   * Describes the API to clients (RFC 9728). Every 401, and the 403 of a missing scope, then names the URL of the description
   * (`resource_metadata` in `WWW-Authenticate`); mount `gate.resourceMetadata()` there.
   */
  readonly protectedResource?: ProtectedResource
  /**
   * Receives one line for each cause that an operator should know once: why credentials are denied, which operation has runs of
   * unknown outcome. Default: writes it to stderr. False: none.
   */
  readonly hint?: false | ((line: string) => void)
  /** Receives failures. Default: writes one line to stderr with the error's name, code and message. */
  readonly report?: (failure: Failure) => void
}

/** Checked options, with every default filled in. */
export interface Settings {
  readonly shapeOf: (facts: RequestFacts) => ErrorShape
  readonly trusted: TrustedProxies
  /** Whether any proxy is trusted. */
  readonly proxied: boolean
  /** Whether the option `trustProxy` is absent: the server expects no proxy. */
  readonly expectsNoProxy: boolean
  readonly requireHttps: boolean
  readonly bodyLimitBytes: number
  readonly responseLimitBytes: number
  readonly exposeHeaders: boolean
  readonly report: (failure: Failure) => void
  readonly render: Render
  /** Whether the option `render` is set. */
  readonly hasOwnRenderer: boolean
  readonly observe: Observe | undefined
  /** The description of the API for clients. */
  readonly resource: ResourceMetadata | undefined
  /** Statuses and replay field of idempotent writes. */
  readonly dialect: DialectTerms
  /** Writes what an operator should know once. */
  readonly hints: Hints
}

/** Sends a problem document (RFC 9457) to requests whose `Accept` names it, and the default shape to all others. */
export function byAccept(defaultShape: ErrorShape): (facts: RequestFacts) => ErrorShape {
  return facts => (facts.header('accept')?.includes('application/problem+json') ? 'problem' : defaultShape)
}
