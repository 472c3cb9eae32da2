import { fetchGate, type FetchGate } from '@gatewright/http/fetch'
import { guarding, type FetchHandler } from '@gatewright/http/internal'
import { compose } from './compose.ts'
import { FETCH_OPTIONS, fetchGateOptions, type FetchOptions } from './fetch-options.ts'
import type { Gatewright, ReadsSession, Wraps } from './gatewright.ts'
import { mountMethods, wrapMethods, type Binding, type WrappingBinding } from './methods.ts'
import { checkedOptions } from './options.ts'

export { memoryStore } from './stores/memory.ts'
export type { FetchOptions } from './fetch-options.ts'

/** A route handler of the App Router: `export const POST = gw.write(...)`. */
export type NextHandler = (
  request: Request,
  context: { readonly params: Promise<Readonly<Record<string, string | string[] | undefined>>> },
) => Promise<Response>

/** Makes route handlers of Next.js. */
export interface NextGatewright<S extends string>
  extends Gatewright<S, NextHandler>,
    Wraps<S, NextHandler>,
    ReadsSession<Request> {
  /** The binding of `@gatewright/http/fetch`, for routes that `gate` declares. */
  readonly http: FetchGate<unknown>
}

/** Passes the path parameters on: the segments of a catch-all joined by `/`. */
const toNext =
  (handler: FetchHandler<unknown>): NextHandler =>
  async (request, context) => {
    const params = Object.entries((await context?.params) ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === 'string' ? value : value.join('/')] as const],
    )
    return handler(request, undefined, Object.fromEntries(params))
  }

/**
 * Makes the access and policy layer of the route handlers of Next.js: tokens, scopes, rate limits, spend caps and idempotent
 * writes. Throws a `TypeError` that says what to write for a wrong option.
 */
export function gatewright<const S extends string = string>(options: FetchOptions<S>): NextGatewright<S> {
  const checked = checkedOptions(options, FETCH_OPTIONS)
  const { parts, declare } = compose(checked, { acceptsRepeats: true })
  const http = fetchGate(parts.gate, fetchGateOptions(checked))
  const binding: Binding<NextHandler> & WrappingBinding<NextHandler> = {
    handle: (route, handler) => guarding(route.operation, toNext(http.handle(route, handler))),
    wrap: (route, existing) => guarding(route.operation, toNext(http.wrap(route, existing))),
  }
  return {
    ...parts,
    http,
    session: request => http.session(request),
    ...mountMethods(declare, binding),
    ...wrapMethods(declare, binding),
  }
}
