import { fastifyGate, type FastifyGate } from '@gatewright/http/fastify'
import { operationGuardedBy, type FastifyRequest, type FastifyRoute } from '@gatewright/http/internal'
import { compose, type Declarations } from './compose.ts'
import type { Gatewright, Protects } from './gatewright.ts'
import { middlewareMethods } from './methods.ts'
import { checkedOptions, type GatewrightOptions } from './options.ts'

export { memoryStore } from './stores/memory.ts'
export type { FastifyReply } from '@gatewright/http/fastify'
export type { GatewrightOptions } from './options.ts'

/** The hooks that protect a route of Fastify: its options, before its own handler. */
type FastifyHooks = ReturnType<FastifyGate['hooks']>

/** Mounts operations on Fastify: `app.post('/payments', gw.write(...))`. */
export interface FastifyGatewright<S extends string>
  extends Gatewright<S, FastifyRoute>,
    Protects<S, FastifyHooks, FastifyRequest> {
  /** Register it before the routes: `await app.register(gw.plugin)`. It keeps the bytes of each body. */
  readonly plugin: FastifyGate['plugin']
  /** The binding of `@gatewright/http/fastify`: `rewriteUrl` for old paths, and routes that `gate` declares. */
  readonly http: FastifyGate
}

/**
 * Makes the access and policy layer of a Fastify server: tokens, scopes, rate limits, spend caps and idempotent writes. Throws a
 * `TypeError` that says what to write for a wrong option.
 */
export function gatewright<const S extends string = string>(
  options: GatewrightOptions<S>,
): FastifyGatewright<S> {
  const { parts, declare } = compose(checkedOptions(options, {}))
  const binding = fastifyGate(parts.gate, { body: 'kept' })
  const http = { ...binding, plugin: assertingMethods(binding.plugin, declare) }
  const { handle, call, session, hooks: guard } = http
  return {
    ...parts,
    http,
    plugin: http.plugin,
    ...middlewareMethods(declare, { handle, call, session, guard }),
  }
}

/** The members of the options of a route that say what guards it. */
interface RouteOptions {
  readonly method: string | readonly string[]
  readonly onRequest?: object | readonly object[]
}

/** Returns the plugin, which also throws for an operation on a method that it is not for, when its route is declared. */
function assertingMethods(
  plugin: FastifyGate['plugin'],
  { assertMethod }: Declarations,
): FastifyGate['plugin'] {
  const asserting: FastifyGate['plugin'] = (app, options, done) => {
    const hooks = app as unknown as { addHook(name: 'onRoute', hook: (route: RouteOptions) => void): void }
    hooks.addHook('onRoute', ({ method, onRequest }) => {
      for (const hook of [onRequest].flat()) {
        const operation = hook && operationGuardedBy(hook)
        if (operation !== undefined) for (const each of [method].flat()) assertMethod(operation, each)
      }
    })
    plugin(app, options, done)
  }
  return Object.assign(asserting, { [Symbol.for('skip-override')]: true })
}
