import type { Rule, ScopeCatalogue } from '@gatewright/kernel'
import type { OpenGateOptions, Settings } from './options.ts'
import type {
  AccessLike,
  AmountLike,
  Credentials,
  GuardPort,
  IdempotencyPort,
  TransactionPort,
  WireResponse,
} from './ports.ts'
import type { CanonicalFacts, RequestFacts } from './request/facts.ts'
import type { CheckedInput } from './request/input.ts'
import type { Outcome } from './response/outcome.ts'
import type {
  AmountCall,
  GuardedCall,
  HandlerResponse,
  IdempotentCall,
  IdempotentOptions,
  OpenCall,
  RouteOptions,
  SpendingCall,
  TransactionContext,
  WriteOptions,
} from './route/handler-types.ts'
import type { RequestContext } from './route/request-context.ts'
import type { CompleteRoute, Route, StepResult } from './route/steps.ts'

// Type parameters of a gate: `S` names of scopes, `A` what the guard returns, `H` its holds, `K` other credentials, `Tx` a
// transaction. Of a route: `B` its body, `Q` its query, `P` its path parameters, `X` what `prepare` returns.

/** Options of a gate with a guard. With `idempotency`, the gate declares idempotent writes; with `transactions`, transactional ones. */
export interface GateOptions<
  S extends string,
  A extends AccessLike,
  K extends Credentials = Credentials,
  Tx = unknown,
> extends OpenGateOptions<K> {
  readonly guard: GuardPort<A>
  /** The scopes of your API. A rule that names another scope does not compile. Default: rules may name any scope. */
  readonly scopes?: ScopeCatalogue<S>
  readonly idempotency?: IdempotencyPort
  /** Runs writes whose idempotency record commits together with their rows. */
  readonly transactions?: TransactionPort<Tx>
  /** Makes the spend storage that writes in such a transaction, for a guard that counts spends: `tx => postgresSpends(tx)`. */
  readonly spendStorage?: (tx: Tx) => unknown
  /**
   * Returns the owner of an idempotency key. Default: the session's account. Never use the session or the API key. If a header
   * names a tenant, return account and tenant, since no header is compared:
   * `({ session }, { header }) => JSON.stringify([session.accountId, header('x-tenant-id')])`.
   */
  readonly accountOf?: (access: A, facts: CanonicalFacts) => string
}

/** Declares operations, which a binding mounts. */
export interface OpenGate {
  /** Declares an operation that anyone may call. */
  open<B = unknown, Q = unknown, P = unknown>(
    operation: string,
    options?: RouteOptions<undefined, B, Q, P>,
  ): Route<OpenCall & CheckedInput<B, Q, P>>
  /**
   * Declares the operation that describes the API to clients (RFC 9728). Mount it for GET at its `path`:
   * `app.get(metadata.path, http.handle(metadata))`. Throws a `TypeError` without the option `protectedResource`.
   */
  resourceMetadata(): CompleteRoute<OpenCall> & { readonly path: string }
  /**
   * Makes every response from now on close its connection (`Connection: close`), so that clients connect elsewhere before the
   * listener closes. Call it when the server begins to shut down.
   */
  drain(): void
  /** For bindings. */
  readonly settings: Settings
  /** For bindings: translates old names of the request to current ones, once per `request`, which is the framework's own object. */
  enter(request: object, facts: () => RequestFacts): StepResult<RequestContext>
  /** For bindings: ends a request that no route serves, and returns the response to send. */
  conclude(context: RequestContext, outcome: Outcome): WireResponse
  /** For bindings: reports that the framework has responded to a request itself. */
  sent(context: RequestContext, status: number): void
  /** For bindings: declares that `copy` is the same request as `original`, which has been entered. */
  adopt(copy: object, original: object): void
}

/** A gate with a guard. */
export interface Gate<S extends string, A extends AccessLike> extends OpenGate {
  /** Declares an operation that requires a session. */
  guarded<B = unknown, Q = unknown, P = unknown>(
    rule: Rule<S>,
    options?: RouteOptions<A, B, Q, P>,
  ): Route<GuardedCall<A> & CheckedInput<B, Q, P>>
}

/** A gate with a guard and idempotent writes. A replay is authorized before it is sent. */
export interface WriteGate<S extends string, A extends AccessLike> extends Gate<S, A> {
  /** Declares a write that requires a session and an `Idempotency-Key`. */
  idempotent<X = undefined, B = unknown, Q = unknown, P = unknown>(
    rule: Rule<S>,
    options?: IdempotentOptions<A, X, B, Q, P>,
  ): Route<IdempotentCall<A, X> & CheckedInput<B, Q, P>>
}

/**
 * A gate with idempotent writes whose guard counts spends. A replay is checked with the amount that the first run reserved,
 * against the limits on a single operation that bind the session of the replay. Counters of a day, a month or a total are not
 * checked again.
 */
export interface SpendGate<S extends string, A extends AccessLike, H> extends WriteGate<S, A> {
  /**
   * Declares a write that requires a session and an `Idempotency-Key`. If its rule spends, its call has `reserve`, or with the
   * option `amount` the reserved `hold`.
   */
  idempotent<
    W extends 'spend' | 'withdrawal' = never,
    X = undefined,
    B = unknown,
    Q = unknown,
    P = unknown,
    M extends AmountLike = never,
  >(
    rule: Rule<S> & { readonly spends?: W },
    options?: IdempotentOptions<A, X, B, Q, P, M>,
  ): Route<WriteCall<A, H, X, W, M> & CheckedInput<B, Q, P>>
}

/** The call of an idempotent write: `W` is how its rule spends, `M` what its option `amount` returns. */
export type WriteCall<A extends AccessLike, H, X, W, M> = [W] extends [never]
  ? IdempotentCall<A, X>
  : [M] extends [never]
    ? SpendingCall<A, H, X>
    : AmountCall<A, H, X>

/** The function `check` of a credential. */
type CheckOf<T> = T extends { check: infer F } ? F : T
/** The caller that a credential's `check` returns. */
type CallerOf<K, A, N> = N extends keyof K
  ? CheckOf<K[N]> extends (...args: never[]) => Promise<infer V>
    ? Extract<V, { readonly ok: true }> extends { readonly value: infer T }
      ? T
      : never
    : never
  : A
/** The call of an operation that one of several credentials guards. */
type CredentialCall<K, A, N> = N extends string
  ? OpenCall & { readonly credential: N; readonly caller: CallerOf<K, A, N> }
  : never

/** The additional function of a gate with the option `credentials`. */
export type CredentialGate<S extends string, A, K> = string extends keyof K
  ? unknown
  : {
      /**
       * Declares an operation that requires one of the named credentials. The first named credential that the request carries
       * is verified. If the request carries none, the last named one is. Its call has `credential` and `caller`.
       */
      guardedBy<N extends (keyof K & string) | 'session', B = unknown, Q = unknown, P = unknown>(
        names: N | readonly [N, ...N[]],
        rule: Rule<S>,
        options?: RouteOptions<CallerOf<K, A, N>, B, Q, P>,
      ): Route<CredentialCall<K, A, N> & CheckedInput<B, Q, P>>
    }

/** The additional function of a gate with the option `transactions`. */
export type TransactionGate<S extends string, A extends AccessLike, H, Tx> = [Tx] extends [never]
  ? unknown
  : {
      /**
       * Declares a write that requires a session and an `Idempotency-Key`. Its record, what it spends, the handler's rows and
       * its response commit together or not at all. If its response is not stored (not 2xx, 404, 409 ...), what the handler wrote
       * is rolled back. Mount it with `handle(route)`. `prepare` runs before the transaction, if no response is stored: call
       * other services there.
       */
      transactional<X = undefined, B = unknown, Q = unknown, P = unknown>(
        rule: Rule<S>,
        handler: (
          call: GuardedCall<A> & CheckedInput<B, Q, P>,
          context: TransactionContext<Tx, H, X>,
        ) => HandlerResponse | Promise<HandlerResponse>,
        options?: WriteOptions<A, X, B, Q, P>,
      ): CompleteRoute<GuardedCall<A> & CheckedInput<B, Q, P>>
    }
