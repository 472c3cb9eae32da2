import { fetchGate, type FetchGate } from '@gatewright/http/fetch'
import { guarding, type HonoContext } from '@gatewright/http/internal'
import type { Session, Verdict } from '@gatewright/kernel'
import { compose } from './compose.ts'
import { FETCH_OPTIONS, fetchGateOptions, type FetchOptions } from './fetch-options.ts'
import type { Gatewright, Protects } from './gatewright.ts'
import { middlewareMethods } from './methods.ts'
import { checkedOptions } from './options.ts'

export { memoryStore } from './stores/memory.ts'
export type { FetchOptions } from './fetch-options.ts'

/** A handler of Hono. */
type HonoHandler<Env> = (context: HonoContext<Env>) => Promise<Response>
/** A middleware of Hono. */
type HonoMiddleware<Env> = ReturnType<FetchGate<Env>['guard']>

/** Mounts operations on Hono. */
export interface HonoGatewright<S extends string, Env>
  extends Gatewright<S, HonoHandler<Env>>,
    Protects<S, HonoMiddleware<Env>, HonoContext<Env>> {
  /** The binding of `@gatewright/http/fetch`: `aliases`, and routes that `gate` declares. */
  readonly http: FetchGate<Env>
}

/**
 * Makes the access and policy layer of a Hono server: tokens, scopes, rate limits, spend caps and idempotent writes. Throws a
 * `TypeError` that says what to write for a wrong option.
 */
export function gatewright<const S extends string = string, Env = unknown>(
  options: FetchOptions<S, Env>,
): HonoGatewright<S, Env> {
  const checked = checkedOptions(options, FETCH_OPTIONS)
  const { parts, declare } = compose(checked)
  const http = fetchGate<Env>(parts.gate, fetchGateOptions(checked))
  const methods = middlewareMethods<HonoHandler<Env>, HonoMiddleware<Env>, HonoContext<Env>>(declare, {
    handle(route, handler) {
      const serve = http.handle(route, handler) as (...given: unknown[]) => Promise<Response>
      return guarding(route.operation, ({ req, env }) => serve(req.raw, env, req.param()))
    },
    guard: route => http.guard(route),
    call: (route, { req }) => http.call(route, req.raw),
    session({ req, env }) {
      const sessionOf: (request: Request, env: Env) => Promise<Verdict<Session>> = http.session
      return sessionOf(req.raw, env)
    },
  })
  return { ...parts, http, ...methods }
}
