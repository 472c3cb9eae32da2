import { Fault, integerOption, type OptionNames } from '@gatewright/kernel'
import { trustedProxies, type TrustedProxies } from './address.ts'
import type { ErrorShape } from './answer.ts'
import type { Observe } from './decision.ts'
import type { RequestFacts } from './facts.ts'
import { plainRender, type Render } from './outcome.ts'

/** A failure: a fault, or an error that nobody expected. Never given a request body, header or key. */
export interface Failure {
  /** The operation's id, or method and path where none was reached. */
  readonly operation: string
  readonly error: unknown
}

/** Options of `gate` that do not depend on its parts. */
export interface CommonOptions {
  /** How errors look. Default `plain`. `byAccept(shape)` gives a problem document to those who ask for one. */
  readonly errors?: ErrorShape | ((facts: RequestFacts) => ErrorShape)
  /** CIDRs of our own proxies, whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. Default: none. */
  readonly trustProxy?: readonly string[]
  /** Refuses plain HTTP with 403 `https_required`, before anything else is looked at. Default false. */
  readonly requireHttps?: boolean
  /** Largest request body read, in bytes. Default 262 144, 0..16 777 216. */
  readonly bodyLimitBytes?: number
  /** Largest captured answer kept for replay, in bytes. Default 262 144, 0..16 777 216. Of a larger one, the status. */
  readonly answerLimitBytes?: number
  /** Sends `Access-Control-Expose-Headers` with our fields to requests that carry `Origin`. Default false. */
  readonly exposeHeaders?: boolean
  /**
   * Makes every answer of the gate from its outcome, in place of `errors`: an envelope, say. A handler that answers by its
   * framework (`guard(route)`) is not rendered. Where it throws, the answer is a 500.
   */
  readonly render?: Render
  /** Takes one decision event per request that the gate decides or its handler answers. Default: none. */
  readonly observe?: Observe
  /** Where failures go. Default: one line on stderr with the error's name, code and message. */
  readonly report?: (failure: Failure) => void
}

const COMMON_OPTIONS: OptionNames<CommonOptions> = {
  errors: true,
  trustProxy: true,
  requireHttps: true,
  bodyLimitBytes: true,
  answerLimitBytes: true,
  exposeHeaders: true,
  render: true,
  observe: true,
  report: true,
}

type PartName =
  | 'aliases'
  | 'guard'
  | 'scopes'
  | 'idempotency'
  | 'accountOf'
  | 'credentials'
  | 'transactions'
  | 'spendStorage'

/** The names of every gate's options. `gate` does not compile where one is missing here. */
export const GATE_OPTIONS: OptionNames<CommonOptions> & Readonly<Record<PartName, true>> = {
  ...COMMON_OPTIONS,
  aliases: true,
  guard: true,
  scopes: true,
  idempotency: true,
  accountOf: true,
  credentials: true,
  transactions: true,
  spendStorage: true,
}

/** Checked options. */
export interface Settings {
  readonly shapeOf: (facts: RequestFacts) => ErrorShape
  readonly trusted: TrustedProxies
  /** Whether any proxy is trusted. */
  readonly proxied: boolean
  readonly requireHttps: boolean
  readonly bodyLimitBytes: number
  readonly answerLimitBytes: number
  readonly exposeHeaders: boolean
  readonly report: (failure: Failure) => void
  readonly render: Render
  /** Whether the renderer is the team's own. */
  readonly rendersValues: boolean
  readonly observe: Observe | undefined
}

const MAX_BYTES = 16_777_216
const SHAPES: readonly unknown[] = ['plain', 'partner', 'problem']

function flag(name: string, value: boolean): boolean {
  if (typeof value === 'boolean') return value
  throw new TypeError(`${name} must be true or false, not ${typeof value}`)
}

/** Gives a problem document (RFC 9457) to requests whose `Accept` names it, and the usual shape to all others. */
export function byAccept(usual: ErrorShape): (facts: RequestFacts) => ErrorShape {
  return facts => (facts.header('accept')?.includes('application/problem+json') ? 'problem' : usual)
}

/** A team's function that throws, or whose promise rejects, must not decide an answer: it is warned of, and `otherwise` taken. */
function orElse<F, T>(call: (facts: F) => T, otherwise: T): (facts: F) => T {
  const warn = (error: unknown): void => process.emitWarning(error instanceof Error ? error : String(error))
  return facts => {
    try {
      const given = call(facts)
      if (given instanceof Promise) given.catch(warn)
      return given
    } catch (error) {
      warn(error)
      return otherwise
    }
  }
}

/** A line for the operator: no stack, no cause, because a driver's error may quote values. */
function print({ operation, error }: Failure): void {
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: '' }
  const code = error instanceof Fault ? error.code : name
  process.stderr.write(`gatewright ${operation}: ${code} ${message}\n`)
}

/** Checks options once. Throws a `TypeError` that names the option, its bounds and what was given. */
export function checkedOptions(options: CommonOptions): Settings {
  const errors = options.errors ?? 'plain'
  if (typeof errors !== 'function' && !SHAPES.includes(errors)) {
    throw new TypeError('errors must be plain, partner, problem or a function')
  }
  for (const name of ['report', 'render', 'observe'] as const) {
    const given = options[name]
    if (given !== undefined && typeof given !== 'function')
      throw new TypeError(`${name} must be a function, not ${typeof given}`)
  }
  const shapeOf = typeof errors === 'function' ? orElse(errors, 'plain') : () => errors
  return {
    shapeOf,
    render: options.render ?? plainRender(shapeOf),
    rendersValues: options.render !== undefined,
    observe: options.observe && orElse(options.observe, undefined),
    trusted: trustedProxies(options.trustProxy ?? []),
    proxied: (options.trustProxy ?? []).length > 0,
    requireHttps: flag('requireHttps', options.requireHttps ?? false),
    bodyLimitBytes: integerOption('bodyLimitBytes', options.bodyLimitBytes ?? 262_144, 0, MAX_BYTES),
    answerLimitBytes: integerOption('answerLimitBytes', options.answerLimitBytes ?? 262_144, 0, MAX_BYTES),
    exposeHeaders: flag('exposeHeaders', options.exposeHeaders ?? false),
    report: orElse(options.report ?? print, undefined),
  }
}
