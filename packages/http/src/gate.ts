import { declarations, type AnyGate } from './declarations.ts'
import type {
  CredentialGate,
  Gate,
  GateOptions,
  OpenGate,
  SpendGate,
  TransactionGate,
  WriteGate,
} from './gate-types.ts'
import type { OpenGateOptions } from './options.ts'
import type { AccessLike, Credentials, IdempotencyPort, SpendGuardPort } from './ports.ts'
import { conclude, concludeSent } from './route/conclude.ts'
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
  S extends string,
  A extends AccessLike,
  H,
  K extends Credentials = Credentials,
  Tx = never,
>(
  options: GateOptions<S, A, K, Tx> & {
    readonly guard: SpendGuardPort<A, H>
    readonly idempotency: IdempotencyPort
  },
): SpendGate<S, A, H> & CredentialGate<S, A, K> & TransactionGate<S, A, H, Tx>
export function gate<K extends Credentials = Credentials>(
  options?: OpenGateOptions<K> & {
    readonly guard?: undefined
    readonly idempotency?: undefined
    readonly transactions?: undefined
  },
): OpenGate & CredentialGate<string, never, K>
export function gate<S extends string, A extends AccessLike, K extends Credentials = Credentials, Tx = never>(
  options: GateOptions<S, A, K, Tx> & { readonly idempotency: IdempotencyPort },
): WriteGate<S, A> & CredentialGate<S, A, K> & TransactionGate<S, A, unknown, Tx>
export function gate<
  S extends string,
  A extends AccessLike,
  H,
  K extends Credentials = Credentials,
  Tx = never,
>(
  options: GateOptions<S, A, K, Tx> & { readonly guard: SpendGuardPort<A, H> },
): Gate<S, A> & CredentialGate<S, A, K> & TransactionGate<S, A, H, Tx>
// The last of the overloads, because the compiler reports a wrong option against it.
export function gate<S extends string, A extends AccessLike, K extends Credentials = Credentials, Tx = never>(
  options: GateOptions<S, A, K, Tx>,
): Gate<S, A> & CredentialGate<S, A, K> & TransactionGate<S, A, unknown, Tx>
export function gate(options: object = {}): never {
  // The overloads decide which functions the gate has. At run time it has all of them, and those without their port throw.
  return createGate(options) as never
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
    sent: (request, status) => concludeSent(context, request, { status, headers: [] }),
    drain() {
      context.draining = true
    },
    enter(request, facts) {
      const known = request as { [entered]?: StepResult<RequestContext> }
      return (known[entered] ??= enter(context, facts()))
    },
    adopt(copy, original) {
      const { [entered]: result } = original as { [entered]?: StepResult<RequestContext> }
      if (result) Object.assign(copy, { [entered]: result })
    },
  }
}
