import { fetchGate, type FetchGate } from '@gatewright/http/fetch'
import type { FetchHandler } from '@gatewright/http/internal'
import { compose } from './compose.ts'
import { FETCH_OPTIONS, fetchGateOptions, type FetchOptions } from './fetch-options.ts'
import type { Gatewright, Wraps } from './gatewright.ts'
import { mountMethods, wrapMethods } from './methods.ts'
import { checkedOptions } from './options.ts'

export { memoryStore } from './stores/memory.ts'
export type { FetchOptions } from './fetch-options.ts'

/** Makes handlers for servers with `fetch`: Bun, Deno, Cloudflare Workers and others. */
export interface FetchGatewright<S extends string, Env>
  extends Gatewright<S, FetchHandler<Env>>,
    Wraps<S, FetchHandler<Env>> {
  /**
   * Returns the session of a request, for middleware that serves many routes, such as tenants and audits. It checks the credential,
   * but no scope, policy or limit: it does not replace `read`, `write` or `protect`. Denials: `unauthorized`, `session_expired`.
   */
  readonly session: FetchGate<Env>['session']
  /** The binding of `@gatewright/http/fetch`: `aliases`, and routes that `gate` declares. */
  readonly http: FetchGate<Env>
}

/**
 * Makes the access and policy layer of a server with `fetch`: tokens, scopes, rate limits, spend caps and idempotent writes. Throws a
 * `TypeError` that says what to write for a wrong option.
 */
export function gatewright<const S extends string = string, Env = unknown>(
  options: FetchOptions<S, Env>,
): FetchGatewright<S, Env> {
  const checked = checkedOptions(options, FETCH_OPTIONS)
  const { parts, declare } = compose(checked)
  const http = fetchGate<Env>(parts.gate, fetchGateOptions(checked))
  return {
    ...parts,
    http,
    session: http.session,
    ...mountMethods(declare, http),
    ...wrapMethods(declare, http),
  }
}
