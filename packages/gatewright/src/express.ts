import { expressGate, type ConnectGate } from '@gatewright/http/express'
import type { ConnectListener, ConnectMiddleware, ConnectRequest } from '@gatewright/http/internal'
import type { BodyChoice } from '@gatewright/http/koa'
import { compose } from './compose.ts'
import type { Gatewright, Protects } from './gatewright.ts'
import { checkedOptions, type GatewrightOptions } from './options.ts'
import { middlewareMethods } from './methods.ts'

export { keepRawBody } from '@gatewright/http/express'
export { memoryStore } from './stores/memory.ts'

/** Options of `gatewright` for Express and plain node http. */
export interface ExpressOptions<S extends string = string> extends GatewrightOptions<S> {
  /**
   * How bodies are read. `stream` (default): by Gatewright, so mount its routes before any body parser. `kept`: by a parser that keeps the bytes,
   * `express.json({ verify: keepRawBody })`. `parsed`: by a parser that keeps none; a body is then compared as its parsed JSON.
   */
  readonly body?: BodyChoice
}

/** Mounts operations on Express 4 and 5. */
export interface ExpressGatewright<S extends string>
  extends Gatewright<S, ConnectListener>,
    Protects<S, ConnectMiddleware, ConnectRequest> {
  /** The binding of `@gatewright/http/express`: `aliases`, and routes that `gate` declares. */
  readonly http: ConnectGate
}

/**
 * Makes the access and policy layer of an Express server: tokens, scopes, rate limits, spend caps and idempotent writes. Throws a
 * `TypeError` that says what to write for a wrong option.
 */
export function gatewright<const S extends string = string>(
  options: ExpressOptions<S>,
): ExpressGatewright<S> {
  const { body = 'stream', ...rest } = checkedOptions(options, { body: true })
  const { parts, declare } = compose(rest)
  const http = expressGate(parts.gate, { body })
  return { ...parts, http, ...middlewareMethods(declare, http) }
}
