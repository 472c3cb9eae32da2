import { koaGate, type KoaContext, type KoaGate, type BodyChoice } from '@gatewright/http/koa'
import type { KoaMiddleware } from '@gatewright/http/internal'
import { compose } from './compose.ts'
import type { Gatewright, Protects } from './gatewright.ts'
import { middlewareMethods } from './methods.ts'
import { checkedOptions, type GatewrightOptions } from './options.ts'

export { memoryStore } from './stores/memory.ts'

/** Options of `gatewright` for Koa. */
export interface KoaOptions<S extends string = string> extends GatewrightOptions<S> {
  /**
   * How bodies are read. `stream` (default): by Gatewright, so mount its routes before any body parser. `kept`: by koa-bodyparser, which keeps
   * the text in `ctx.request.rawBody`. `parsed`: by a parser that keeps none; a body is then compared as its parsed JSON.
   */
  readonly body?: BodyChoice
}

/** Mounts operations on Koa. */
export interface KoaGatewright<S extends string>
  extends Gatewright<S, KoaMiddleware>,
    Protects<S, KoaMiddleware, KoaContext> {
  /** The binding of `@gatewright/http/koa`: `aliases`, and routes that `gate` declares. */
  readonly http: KoaGate
}

/**
 * Makes the access and policy layer of a Koa server: tokens, scopes, rate limits, spend caps and idempotent writes. Throws a
 * `TypeError` that says what to write for a wrong option.
 */
export function gatewright<const S extends string = string>(options: KoaOptions<S>): KoaGatewright<S> {
  const { body = 'stream', ...rest } = checkedOptions(options, { body: true })
  const { parts, declare } = compose(rest)
  const http = koaGate(parts.gate, { body })
  return { ...parts, http, ...middlewareMethods(declare, http) }
}
