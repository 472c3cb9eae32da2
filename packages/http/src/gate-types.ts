import type { ScopeCatalogue } from '@gatewright/kernel'
import type { Exchange, Stage } from './exchange.ts'
import type { RequestFacts } from './facts.ts'
import type { Input } from './input.ts'
import type { CommonOptions, Settings } from './options.ts'
import type { Outcome } from './outcome.ts'
import type {
  AccessLike,
  AliasPart,
  Credential,
  GuardedRule,
  GuardPart,
  IdempotencyPart,
  SpendGuardPart,
  TransactionPart,
  WireAnswer,
} from './parts.ts'
import type { HandlerAnswer } from './perform.ts'
import type {
  CallerCall,
  CompleteRoute,
  Effect,
  GuardedCall,
  IdempotentCall,
  OpenCall,
  Prepare,
  Route,
  RouteOptions,
  SpendingCall,
} from './stages.ts'

/** The credentials that a gate declares, by name. `session` is the guard's, unless it is declared anew. */
export type Credentials = Readonly<Record<string, Credential<unknown>>>

/** Options of a gate without a guard: it can only serve open operations, and those by a credential of its own. */
export interface OpenGateOptions<K extends Credentials = Credentials> extends CommonOptions {
  readonly aliases?: AliasPart
  readonly credentials?: K
  readonly guard?: undefined
  readonly idempotency?: undefined
  readonly transactions?: undefined
}

/** Options of a gate with a guard. */
export interface GateOptions<
  S extends string,
  A extends AccessLike,
  K extends Credentials = Credentials,
  Tx = unknown,
> extends CommonOptions {
  readonly aliases?: AliasPart
  readonly credentials?: K
  readonly guard: GuardPart<A>
  /** The team's own scopes: a rule that names another one does not compile. */
  readonly scopes: ScopeCatalogue<S>
  readonly idempotency?: undefined
  /** Writes whose record commits with their rows. */
  readonly transactions?: TransactionPart<Tx>
  /** The spend counters in such a transaction, for a guard that counts: `tx => postgresStorage(tx)`. */
  readonly spendStorage?: (tx: Tx) => unknown
  /** Who owns an idempotency key. Default: the session's account. Never the session or the API key. */
  readonly accountOf?: (access: A) => string
}

/** Options of a gate with a guard and idempotent writes. */
export interface WriteGateOptions<
  S extends string,
  A extends AccessLike,
  K extends Credentials = Credentials,
  Tx = unknown,
> extends Omit<GateOptions<S, A, K, Tx>, 'idempotency'> {
  readonly idempotency: IdempotencyPart
}

/** Options of a gate whose guard counts what is spent. */
export interface SpendGateOptions<
  S extends string,
  A extends AccessLike,
  H,
  K extends Credentials = Credentials,
  Tx = unknown,
> extends Omit<WriteGateOptions<S, A, K, Tx>, 'guard'> {
  readonly guard: SpendGuardPart<A, H>
}

/** What schemas add to a call. */
export interface CheckedInput<B, Q, P> {
  readonly input: Input<B, Q, P>
}

/** Declares operations; a binding mounts them. */
export interface OpenGate {
  /** An operation that anyone may call. */
  open<B = unknown, Q = unknown, P = unknown>(
    operation: string,
    options?: RouteOptions<undefined, B, Q, P>,
  ): Route<OpenCall & CheckedInput<B, Q, P>>
  /**
   * From now on every answer ends its connection (`Connection: close`), so that clients go elsewhere before the listener
   * closes. For a server that is being shut down.
   */
  drain(): void
  /** For bindings. */
  readonly settings: Settings
  /** For bindings: the request in canonical names. `request` is the framework's own object: asked once for each. */
  enter(request: object, facts: () => RequestFacts): Stage<Exchange>
  /** For bindings: ends a request that no route answers, and gives what to send. */
  conclude(exchange: Exchange, outcome: Outcome): WireAnswer
  /** For bindings: the server has answered a request by itself. */
  sent(exchange: Exchange, status: number): void
  /** For bindings: `copy` is the same request as `original`, which has been entered. */
  adopt(copy: object, original: object): void
}

/** A gate that can also guard. */
export interface Gate<S extends string, A extends AccessLike> extends OpenGate {
  /** An operation that takes a session. */
  guarded<B = unknown, Q = unknown, P = unknown>(
    rule: GuardedRule<S>,
    options?: RouteOptions<A, B, Q, P>,
  ): Route<GuardedCall<A> & CheckedInput<B, Q, P>>
}

/** Options of an idempotent route. */
export interface WriteOptions<A extends AccessLike, X = unknown, B = unknown, Q = unknown, P = unknown>
  extends RouteOptions<A, B, Q, P> {
  readonly prepare?: Prepare<GuardedCall<A> & CheckedInput<B, Q, P>, X>
}

/** A gate that can also make writes idempotent. A replay is authorised again before it is answered. */
export interface WriteGate<S extends string, A extends AccessLike> extends Gate<S, A> {
  /** A write that takes a session and an `Idempotency-Key`. */
  idempotent<X = undefined, B = unknown, Q = unknown, P = unknown>(
    rule: GuardedRule<S>,
    options?: WriteOptions<A, X, B, Q, P>,
  ): Route<IdempotentCall<A, X> & CheckedInput<B, Q, P>>
}

/**
 * A gate whose spending writes reserve. A replay then passes the limits of the session that asks on one operation, by the
 * amount that the first run has reserved; the counters of a day, a month or in all are not asked again.
 */
export interface SpendGate<S extends string, A extends AccessLike, H> extends WriteGate<S, A> {
  /** A write whose rule spends: its call has `reserve`. */
  idempotent<X = undefined, B = unknown, Q = unknown, P = unknown>(
    rule: GuardedRule<S> & { readonly spends: 'spend' | 'withdrawal' },
    options?: WriteOptions<A, X, B, Q, P>,
  ): Route<SpendingCall<A, H, X> & CheckedInput<B, Q, P>>
  idempotent<X = undefined, B = unknown, Q = unknown, P = unknown>(
    rule: GuardedRule<S>,
    options?: WriteOptions<A, X, B, Q, P>,
  ): Route<IdempotentCall<A, X> & CheckedInput<B, Q, P>>
}

type Check<T> = T extends { check: infer F } ? F : T
/** Who a credential proves. */
type CallerOf<K, A, N> = N extends keyof K
  ? Check<K[N]> extends (...given: never[]) => Promise<infer V>
    ? Extract<V, { readonly ok: true }> extends { readonly value: infer T }
      ? T
      : never
    : never
  : A
type CallBy<K, A, N> = N extends string ? CallerCall<N, CallerOf<K, A, N>> : never

/** What a gate with credentials of its own can also declare. */
export type ByCredential<S extends string, A, K> = string extends keyof K
  ? unknown
  : {
      /**
       * An operation that takes one of the named credentials: the first that the request carries is read, else the last. Its
       * call has `credential` and `caller`.
       */
      guardedBy<N extends (keyof K & string) | 'session', B = unknown, Q = unknown, P = unknown>(
        names: N | readonly [N, ...N[]],
        rule: GuardedRule<S>,
        options?: RouteOptions<CallerOf<K, A, N>, B, Q, P>,
      ): Route<CallBy<K, A, N> & CheckedInput<B, Q, P>>
    }

/** What a gate with transactions can also declare. */
export type InTransaction<S extends string, A extends AccessLike, H, Tx> = [Tx] extends [never]
  ? unknown
  : {
      /**
       * A write that takes a session and an `Idempotency-Key`. Its record, what it spends, the handler's rows and its answer commit
       * together or not at all; an answer that is not final (2xx, 404, 409 ...) takes back what the handler wrote. Mount it by
       * `handle(route)`. `prepare` runs before the transaction, where no answer is kept: the network belongs there.
       */
      transactional<X = undefined, B = unknown, Q = unknown, P = unknown>(
        rule: GuardedRule<S>,
        handler: (
          call: GuardedCall<A> & CheckedInput<B, Q, P>,
          effect: Effect<Tx, H, X>,
        ) => HandlerAnswer | Promise<HandlerAnswer>,
        options?: WriteOptions<A, X, B, Q, P>,
      ): CompleteRoute<GuardedCall<A> & CheckedInput<B, Q, P>>
    }
