import { Fault, integerOption, type OptionNames } from '@gatewright/kernel'
import { emitWarning, printError } from '@gatewright/kernel/platform'
import { trustedProxies, type TrustedProxies } from './request/client-address.ts'
import type { ErrorShape } from './response/http-response.ts'
import type { Observe } from './response/decision.ts'
import { developmentHint, type Hint } from './response/hint.ts'
import type { RequestFacts } from './request/facts.ts'
import type { AliasPort, Credentials } from './ports.ts'
import { plainRender, type Render } from './response/outcome.ts'
import {
  resourceMetadata,
  type ProtectedResource,
  type ResourceMetadata,
} from './response/resource-metadata.ts'

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
  /** CIDRs of your proxies, whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted. Default: none. */
  readonly trustProxy?: readonly string[]
  /** Denies plain HTTP with 403 `https_required`, before anything else is decided. Default false. */
  readonly requireHttps?: boolean
  /** Largest request body, in bytes. Default 262 144, 0 to 16 777 216. */
  readonly bodyLimitBytes?: number
  /** Largest captured response stored for replay, in bytes. Default 262 144, 0 to 16 777 216. Above the limit, only the status is stored. */
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
   * Describes the API to clients (RFC 9728). Every 401 then names the URL of the description (`resource_metadata` in
   * `WWW-Authenticate`); mount `gate.resourceMetadata()` there.
   */
  readonly protectedResource?: ProtectedResource
  /** Receives failures. Default: writes one line to stderr with the error's name, code and message. */
  readonly report?: (failure: Failure) => void
}

/** The names of the options of every gate. */
export const OPEN_GATE_OPTIONS: OptionNames<OpenGateOptions> = {
  aliases: true,
  credentials: true,
  errors: true,
  trustProxy: true,
  requireHttps: true,
  bodyLimitBytes: true,
  responseLimitBytes: true,
  exposeHeaders: true,
  render: true,
  observe: true,
  protectedResource: true,
  report: true,
}

/** Checked options, with every default filled in. */
export interface Settings {
  readonly shapeOf: (facts: RequestFacts) => ErrorShape
  readonly trusted: TrustedProxies
  /** Whether any proxy is trusted. */
  readonly proxied: boolean
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
  /** Prints the causes of denials, in development only. */
  readonly hint: Hint | undefined
}

const MAX_BYTES = 16_777_216
const SHAPES: readonly unknown[] = ['plain', 'partner', 'problem']

function flag(name: string, value: boolean): boolean {
  if (typeof value === 'boolean') return value
  throw new TypeError(`${name} must be true or false, got ${typeof value}`)
}

/** Sends a problem document (RFC 9457) to requests whose `Accept` names it, and the default shape to all others. */
export function byAccept(defaultShape: ErrorShape): (facts: RequestFacts) => ErrorShape {
  return facts => (facts.header('accept')?.includes('application/problem+json') ? 'problem' : defaultShape)
}

/**
 * Wraps a function of the application (`report`, `observe`). If it throws or rejects, emits a process warning and returns
 * `fallback`, so that it cannot change a response.
 */
function withFallback<F, T>(call: (facts: F) => T, fallback: T): (facts: F) => T {
  const warn = (error: unknown): void => emitWarning(error instanceof Error ? error : String(error))
  return facts => {
    try {
      const result = call(facts)
      if (result instanceof Promise) result.catch(warn)
      return result
    } catch (error) {
      warn(error)
      return fallback
    }
  }
}

/** Writes one line for the operator, without stack and cause, since errors of database drivers may contain values. */
function print({ operation, error }: Failure): void {
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: '' }
  const code = error instanceof Fault ? error.code : name
  printError(`gatewright ${operation}: ${code} ${message}`)
}

/** Checks options once. Throws a `TypeError` that names the option, what was expected and what was given. */
export function checkedOptions(options: OpenGateOptions, scopes?: readonly string[]): Settings {
  const errors = options.errors ?? 'plain'
  if (typeof errors !== 'function' && !SHAPES.includes(errors)) {
    throw new TypeError(
      `errors must be "plain", "partner", "problem" or a function, got ${JSON.stringify(errors)}`,
    )
  }
  for (const name of ['report', 'render', 'observe'] as const) {
    const given = options[name]
    if (given !== undefined && typeof given !== 'function')
      throw new TypeError(`${name} must be a function, got ${typeof given}`)
  }
  const shapeOf = typeof errors === 'function' ? withFallback(errors, 'plain') : () => errors
  return {
    shapeOf,
    render: options.render ?? plainRender(shapeOf),
    hasOwnRenderer: options.render !== undefined,
    resource:
      options.protectedResource === undefined
        ? undefined
        : resourceMetadata(options.protectedResource, scopes),
    observe: options.observe && withFallback(options.observe, undefined),
    hint: developmentHint(),
    trusted: trustedProxies(options.trustProxy ?? []),
    proxied: (options.trustProxy ?? []).length > 0,
    requireHttps: flag('requireHttps', options.requireHttps ?? false),
    bodyLimitBytes: integerOption('bodyLimitBytes', options.bodyLimitBytes ?? 262_144, 0, MAX_BYTES),
    responseLimitBytes: integerOption(
      'responseLimitBytes',
      options.responseLimitBytes ?? 262_144,
      0,
      MAX_BYTES,
    ),
    exposeHeaders: flag('exposeHeaders', options.exposeHeaders ?? false),
    report: withFallback(options.report ?? print, undefined),
  }
}
