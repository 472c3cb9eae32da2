import { Fault } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import { emitWarning, printError } from '@gatewright/kernel/internal/platform'
import type { GateOptions } from './gate-types.ts'
import type { Failure, Settings } from './options.ts'
import { trustedProxies } from './request/client-address.ts'
import { DIALECTS } from './idempotency/dialect.ts'
import { causeText } from './response/cause-text.ts'
import { createHints } from './response/hint.ts'
import { plainRender } from './response/outcome.ts'
import { resourceMetadata } from './response/resource-metadata.ts'

/** The options of any gate. */
export type AnyGateOptions = GateOptions

const MAX_BYTES = 16_777_216
const SHAPES: readonly unknown[] = ['plain', 'partner', 'problem']

/** Wraps a team's function. If it throws or rejects, emits a process warning and returns `fallback`, so that it cannot change a response. */
function withFallback<F, T>(call: (facts: F) => T, fallback: T): (facts: F) => T {
  // Not `String(error)`, which itself throws for an object without a prototype.
  const warn = (error: unknown): void =>
    emitWarning(error instanceof Error || typeof error === 'string' ? error : `threw ${typeof error}`)
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

/** Writes one line for the operator: the error, and for a fault its cause, without stack and without values of statements. */
function print({ operation, error }: Failure): void {
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: '' }
  const code = error instanceof Fault ? error.code : name
  const cause = error instanceof Fault ? causeText(error.cause) : undefined
  printError(`gatewright ${operation}: ${code} ${message}${cause === undefined ? '' : `: ${cause}`}`)
}

/** Returns the function that writes hints. Throws a `TypeError` unless the option `hint` is a function or false. */
function hintWriter(hint: unknown = printError): (line: string) => void {
  if (hint === false) return () => {}
  if (typeof hint === 'function') return withFallback(hint as (line: string) => void, undefined)
  throw new TypeError(`gate: hint must be a function or false, got ${typeof hint}`)
}

/** Checks options once. Throws a `TypeError` that names the option, what was expected and what was given. */
export function checkedSettings(given: AnyGateOptions): Settings {
  const {
    errors = 'plain',
    render,
    observe,
    report,
    hint,
    ...options
  } = checkOptions('gate', given, {
    aliases: true,
    credentials: true,
    errors: true,
    trustProxy: true,
    requireHttps: { default: false },
    bodyLimitBytes: { min: 0, max: MAX_BYTES, default: 262_144 },
    responseLimitBytes: { min: 0, max: MAX_BYTES, default: 262_144 },
    exposeHeaders: { default: false },
    render: { is: 'function', default: undefined },
    observe: { is: 'function', default: undefined },
    protectedResource: true,
    report: { default: print },
    hint: true,
    guard: true,
    scopes: true,
    idempotency: true,
    accountOf: { is: 'function', default: undefined },
    idempotencyDialect: { is: ['gatewright', 'ietf', 'stripe'], default: 'gatewright' },
    transactions: true,
    spendStorage: { is: 'function', default: undefined },
    approvalStorage: { is: 'function', default: undefined },
  })
  if (typeof errors !== 'function' && !SHAPES.includes(errors)) {
    throw new TypeError(
      `gate: errors must be "plain", "partner", "problem" or a function, got ${JSON.stringify(errors)}`,
    )
  }
  const { trustProxy, requireHttps, bodyLimitBytes, responseLimitBytes, exposeHeaders } = options
  const proxies = trustProxy ?? []
  const { protectedResource, scopes } = options
  const shapeOf = typeof errors === 'function' ? withFallback(errors, 'plain') : () => errors
  return {
    shapeOf,
    render: render ?? plainRender(shapeOf),
    hasOwnRenderer: render !== undefined,
    resource:
      protectedResource === undefined
        ? undefined
        : resourceMetadata(protectedResource, { scopes: scopes?.names, dpop: options.guard?.dpop }),
    observe: observe && withFallback(observe, undefined),
    dialect: DIALECTS[options.idempotencyDialect],
    hints: createHints(hintWriter(hint)),
    trusted: trustedProxies(proxies),
    proxied: proxies.length > 0,
    expectsNoProxy: trustProxy === undefined,
    requireHttps,
    bodyLimitBytes,
    responseLimitBytes,
    exposeHeaders,
    report: withFallback(report, undefined),
  }
}
