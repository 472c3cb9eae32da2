import type { HeaderField, Rule, Session, Verdict, ScopeCatalogue } from '@gatewright/kernel'
import type { IdempotencyDialect } from './idempotency/dialect.ts'
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
  TransactionalOptions,
  TransactionContext,
} from './handler-types.ts'
import type { RequestContext } from './route/request-context.ts'
import type { CompleteRoute, Route, StepResult } from './route/steps.ts'

// Type parameters of a gate: `S` names of scopes, `A` what the guard returns, `H` its holds, `K` other credentials, `Tx` a
// transaction. Of a route: `B` its body, `Q` its query, `P` its path parameters, `X` what `prepare` returns.

/**
 * Options of a gate. With `guard` it declares guarded operations, with `idempotency` too idempotent writes, and with
 * `transactions` transactional ones. `gate` and its functions throw a `TypeError` that names the option which is missing.
 */
export interface GateOptions<
  S extends string = string,
  A extends AccessLike = AccessLike,
  H = unknown,
  K extends Credentials = Credentials,
  Tx = unknown,
> extends OpenGateOptions<K> {
  readonly guard?: GuardPort<A, H>
  /** The scopes of your API. A rule that names another scope does not compile. Default: rules may name any scope. */
  readonly scopes?: ScopeCatalogue<S>
  readonly idempotency?: IdempotencyPort
  /**
   * The statuses and the replay field that your clients expect of idempotent writes. Default `gatewright`: 429 for a key in use, 400
   * for a reused key, `Idempotency-Replayed`. `ietf`: 409 and 422. `stripe`: 409, 400 and `Idempotent-Replayed`.
   */
  readonly idempotencyDialect?: IdempotencyDialect
  /** Runs writes whose idempotency record commits together with their rows. */
  readonly transactions?: TransactionPort<Tx>
  /** Makes the spend storage that writes in such a transaction, for a guard that counts spends: `tx => postgresSpends(tx)`. */
  readonly spendStorage?: (tx: NoInfer<Tx>) => unknown
  /** Makes the storage of approvals that writes in such a transaction, for a guard with approvals: `tx => postgresApprovals(tx)`. */
  readonly approvalStorage?: (tx: NoInfer<Tx>) => unknown
  /**
   * Returns the owner of an idempotency key. Default: the session's account. Never use the session or the API key. If a header
   * names a tenant, return account and tenant, since no header is compared:
   * `({ session }, { header }) => JSON.stringify([session.accountId, header('x-tenant-id')])`.
   */
  readonly accountOf?: (access: NoInfer<A>, facts: CanonicalFacts) => string
}

/** The part of a gate that does not depend on its ports: what bindings need, and operations that anyone may call. */
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
  /** For bindings: the session of a request, for `session(request)`. */
  session(request: object, facts: () => RequestFacts): Promise<Verdict<Session>>
  /** For bindings: counts a request of a session, for which there is no route, under the rate limits of a rule. Returns header fields. */
  admit(context: RequestContext, session: Session, rule: Rule): Promise<Verdict<readonly HeaderField[]>>
  /** For bindings: ends a request that no route serves, and returns the response to send. */
  conclude(context: RequestContext, outcome: Outcome): WireResponse
  /** For bindings: reports that the framework has responded to a request itself. */
  sent(context: RequestContext, status: number): void
  /** For bindings: declares that `copy` is the same request as `original`, which has been entered. */
  adopt(copy: object, original: object): void
}

/**
 * Declares the operations of an API, which a binding mounts. Each function throws a `TypeError` if its option of the gate is missing,
 * or if the rule or an option of the route is wrong. No two operations may have one id.
 */
export interface Gate<
  S extends string = string,
  A extends AccessLike = AccessLike,
  H = unknown,
  K extends Credentials = Credentials,
  Tx = unknown,
> extends OpenGate {
  /** Declares an operation that requires a session. Needs the option `guard`. */
  guarded<B = unknown, Q = unknown, P = unknown>(
    rule: Rule<S>,
    options?: RouteOptions<A, B, Q, P>,
  ): Route<GuardedCall<A> & CheckedInput<B, Q, P>>
  /**
   * Declares a write that requires a session and an `Idempotency-Key`. Needs the option `idempotency`. If its rule spends, its call has
   * `reserve`, or with the route's option `amount` the reserved `hold`.
   *
   * A replay is authorized before it is sent. It is also checked with the amount that the first run reserved, against the limits on a
   * single operation that bind the session of the replay. Counters of a day, a month or a total are not checked again.
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
  /**
   * Declares a write that requires a session and, by default, an `Idempotency-Key`. Its record, what it spends, the handler's rows and
   * its response commit together or not at all. If its response is not stored (not 2xx, 404, 409 ...), what the handler wrote
   * is rolled back. Mount it with `handle(route)`. `prepare` runs before the transaction, if no response is stored: call
   * other services there. Needs the option `transactions`.
   */
  transactional<X = undefined, B = unknown, Q = unknown, P = unknown>(
    rule: Rule<S>,
    handler: (
      call: GuardedCall<A> & CheckedInput<B, Q, P>,
      context: TransactionContext<Tx, H, X>,
    ) => HandlerResponse | Promise<HandlerResponse>,
    options?: TransactionalOptions<A, X, B, Q, P>,
  ): CompleteRoute<GuardedCall<A> & CheckedInput<B, Q, P>>
  /**
   * Declares an operation that requires one of the named credentials. The first named credential that the request carries
   * is verified. If the request carries none, the last named one is. Its call has `credential` and `caller`. Needs the option
   * `credentials`, or `guard` for the name `session`.
   */
  guardedBy<N extends NameOf<K>, B = unknown, Q = unknown, P = unknown>(
    names: N | readonly [N, ...N[]],
    rule: Rule<S>,
    options?: RouteOptions<CallerOf<K, A, N>, B, Q, P>,
  ): Route<CredentialCall<K, A, N> & CheckedInput<B, Q, P>>
}

/** The call of an idempotent write: `W` is how its rule spends, `M` what its option `amount` returns. */
type WriteCall<A extends AccessLike, H, X, W, M> = [W] extends [never]
  ? IdempotentCall<A, X>
  : [M] extends [never]
    ? SpendingCall<A, H, X>
    : AmountCall<A, H, X>

/** The names of a gate's credentials. */
type NameOf<K> = 'session' | (string extends keyof K ? never : keyof K & string)
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
