import { allow } from '@gatewright/kernel'
import { declarations, type AnyGate } from './declarations.ts'
import type { Gate, GateOptions } from './gate-types.ts'
import type { AccessLike, Credentials } from './ports.ts'
import { conclude, concludeSent } from './route/conclude.ts'
import { sessionOf } from './route/credentials.ts'
import { enter } from './route/enter.ts'
import type { GateContext, RequestContext } from './route/request-context.ts'
import type { StepResult } from './route/steps.ts'
import { checkedSettings, type AnyGateOptions } from './settings.ts'

/**
 * Composes guard, idempotency and the other ports in the only correct order: translation of old names, credential, limits,
 * body, idempotency record, handler. Throws a `TypeError` for a port without its functions, for idempotency without a guard (a
 * replay must be authorized), and for a wrong option.
 */
export function gate<
  S extends string = string,
  A extends AccessLike = AccessLike,
  H = unknown,
  K extends Credentials = Credentials,
  Tx = unknown,
>(options: GateOptions<S, A, H, K, Tx> = {}): Gate<S, A, H, K, Tx> {
  // Inside, nothing depends on what the types of the ports say.
  return createGate(options as unknown as AnyGateOptions) as unknown as Gate<S, A, H, K, Tx>
}

function createGate(options: AnyGateOptions): AnyGate {
  const context: GateContext = {
    settings: checkedSettings(options),
    aliases: options.aliases,
    draining: false,
  }
  // A property of the request object: a WeakMap of live requests makes every garbage collection slower.
  const entered = Symbol('gate')
  const declared = declarations(context, options)
  return {
    ...declared,
    settings: context.settings,
    resourceMetadata() {
      const { resource } = context.settings
      if (!resource) throw new TypeError('resourceMetadata: the gate needs the option protectedResource')
      const response = { status: 200, headers: [], body: resource.document }
      return {
        ...declared.open('resource_metadata.read'),
        path: resource.path,
        run: async () => ({ kind: 'response', response }),
      }
    },
    conclude: (request, outcome) => conclude(context, request, outcome),
    sent: (request, status) => concludeSent(context, request, { status, headers: request.routeFields }),
    drain() {
      context.draining = true
    },
    enter(request, facts) {
      const known = request as { [entered]?: StepResult<RequestContext> }
      return (known[entered] ??= enter(context, facts()))
    },
    async session(request, facts) {
      const known = request as { [entered]?: StepResult<RequestContext> }
      const result = (known[entered] ??= enter(context, facts()))
      if (result.ok) return sessionOf(options.guard, result.value)
      const { status } = result.response
      return {
        ok: false,
        code: 'invalid_request',
        status,
        message: 'the request is denied before its credential is read',
      }
    },
    async admit({ facts: { address } }, session, rule) {
      return options.guard?.admit?.(session, address === '' ? {} : { address }, rule) ?? allow([])
    },
    adopt(copy, original) {
      const { [entered]: result } = original as { [entered]?: StepResult<RequestContext> }
      if (result) Object.assign(copy, { [entered]: result })
    },
  }
}
