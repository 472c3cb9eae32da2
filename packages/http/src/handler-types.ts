import type { Denial, Verdict, HeaderField } from '@gatewright/kernel'
import type { AccessLike, AmountLike } from './ports.ts'
import type { RequestDenial } from './codes.ts'
import type { CanonicalFacts } from './request/facts.ts'
import type { CheckedInput, InputSchemas } from './request/input.ts'
import type { DenialWithHeaders } from './codes.ts'

/** The argument of a handler: one request. */
export interface OpenCall extends CheckedInput {
  /** The facts under current names: old paths and headers have been translated. */
  readonly facts: CanonicalFacts
  /** The bytes of the body; empty for a method without a body. */
  readonly body: Uint8Array
  /** Path parameters by name, as the framework read them. */
  readonly params: Readonly<Record<string, string>>
  /** Reads the body as a JSON object; an empty body is `{}`. Denials: `invalid_request`, `unsupported_media_type`. */
  json(): Verdict<Record<string, unknown>, RequestDenial>
  /**
   * Returns a signal that aborts when the client disconnects before the response is sent. A write that has begun should be
   * finished. It is a function because most handlers need no signal, and creating one is expensive.
   */
  signal(): AbortSignal
}

/** A request that the guard has accepted. */
export interface GuardedCall<A extends AccessLike> extends OpenCall {
  readonly access: A
  readonly session: A['session']
}

/**
 * A write that runs at most once per idempotency key. Pass `effectId` or `fence` to the system that makes the effect. The
 * key is free again if the handler returns a 4xx response that changed nothing (400, 402, 403, 422 ...). If it throws, the outcome is
 * unknown, unless the error is marked by `nothingHappened` or has one of the route's `noEffectStatuses`.
 */
export interface IdempotentCall<A extends AccessLike, P = unknown> extends GuardedCall<A> {
  readonly effect: { readonly effectId: string; readonly fence: number }
  /** The value that the route's `prepare` returned. */
  readonly prepared: P
}

/**
 * An amount that a run has reserved. The handler says once how it ends; a second time is a `TypeError`. The gate ends it with
 * the outcome of the run, so that it counts until then:
 *
 * 1. Killed before the response is stored: the run is lost and the whole hold counts. A later run of the request finds it.
 * 2. Killed after that: the response is replayed, and the whole hold counts on, since nobody ends it any more.
 *
 * A 4xx response says that nothing was spent: it releases a hold whose end the handler did not say. An error or a 5xx leaves the
 * outcome unknown: the hold counts, whatever the handler said. An error of which the team says that nothing happened releases it,
 * whatever the handler said.
 */
export interface OpenHold<H> {
  /**
   * Counts `actualCents` as spent, in the currency of the reservation, and gives back the rest. Default: the reserved amount.
   * Throws a `TypeError` for more than that.
   */
  settle(actualCents?: number): void
  /** Gives back the whole amount: nothing was spent. */
  release(): void
  /** Returns the guard's own hold, to be stored with a business row. The gate does not end it: call `settle` or `release` of the guard. */
  keep(): H
}

/** An idempotent write whose rule spends, and whose handler learns the amount. */
export interface SpendingCall<A extends AccessLike, H, P = unknown> extends IdempotentCall<A, P> {
  /**
   * Holds an amount under every cap of the caller, before the effect. If it is denied, return the denial; for a malformed
   * amount that is a 400. The amount is stored with the response, so that a replay is checked against the limits of the session
   * that requests it. The id of the hold is `effectId`, of the second hold of a run `effectId-2` and so on, so that a run that
   * repeats one of unknown outcome finds its holds. A run may have 16 holds. Before a response below 400, settle, release or keep each hold. Without
   * that, or without any hold, the response is a 503 (`ERR_HOLD_NOT_ENDED`, `ERR_NOT_RESERVED`), and the outcome is unknown.
   */
  reserve(spend: AmountLike & { readonly holdId?: string }): Promise<Verdict<OpenHold<H>>>
  /** Declares that this request spends nothing, so that it may succeed without a reservation. */
  spendsNothing(): void
}

/** An idempotent write whose rule spends, and whose option `amount` says how much. */
export interface AmountCall<A extends AccessLike, H, P = unknown> extends IdempotentCall<A, P> {
  /**
   * The amount, which was reserved before the handler. A response below 400 settles it in full, and a 4xx releases it, unless
   * the handler says otherwise.
   */
  readonly hold: OpenHold<H>
}

/** The second argument of the handler of a transactional write. */
export interface TransactionContext<Tx, H, P = unknown> {
  /** The transaction of record and rows. Use no other connection while it is open. */
  readonly tx: Tx
  /** The same on every run of the same idempotency key. */
  readonly effectId: string
  readonly fence: number
  /** The value that the route's `prepare` returned. */
  readonly prepared: P
  /**
   * Holds an amount under every cap of the caller, in the same transaction. It may be called once, and only if the rule
   * spends. The id of the hold is random: store the hold with the business row. Without a reservation, a response below 400
   * is a 503 (`ERR_NOT_RESERVED`), and the transaction is rolled back. Denials: `policy_blocked`, `invalid_request`.
   */
  reserve(spend: AmountLike): Promise<Verdict<H>>
  /** Declares that this request spends nothing, so that it may succeed without a reservation: its effect exists already. */
  spendsNothing(): void
  /** Decides whether an amount is within the caller's limits on a single operation, for the result of an earlier effect. */
  permits(amount: AmountLike): Promise<Verdict<unknown>>
  /**
   * Ends the run as if it had never begun: nothing is committed or stored, and the key is free again. For a denial whose status
   * would be stored (404, 409), although the next request may succeed.
   */
  abandon(denial: Denial): never
}

/** What a handler returns: a response, whose body is sent as JSON, or a denial of any package, which is rendered. */
export type HandlerResponse =
  | { readonly status: number; readonly headers?: readonly HeaderField[]; readonly body?: unknown }
  | Denial

/** Handles a call and returns its response. If it throws a fault, the response is a 503; for any other error a 500. */
export type Handler<C extends OpenCall> = (call: C) => HandlerResponse | Promise<HandlerResponse>

/** A request with a verified credential, before its body is read. */
export interface AuthenticatedRequest<T> {
  readonly facts: CanonicalFacts
  readonly params: Readonly<Record<string, string>>
  readonly caller: T
}

/** Options of a route beside its rule. */
export interface RouteOptions<T = unknown, B = unknown, Q = unknown, P = unknown>
  extends InputSchemas<B, Q, P> {
  /**
   * Runs after the credential is verified and before the body is read, for example to apply a rate limit of the route.
   * Returns header fields for the response, or a denial. `RateLimit` fields are joined to those of the guard.
   */
  admit?(request: AuthenticatedRequest<T>): Promise<Verdict<readonly HeaderField[], DenialWithHeaders>>
}

/** Options of an idempotent or transactional route. */
export interface WriteOptions<A extends AccessLike, X = unknown, B = unknown, Q = unknown, P = unknown>
  extends RouteOptions<A, B, Q, P> {
  /**
   * Whether the query is part of the write, so that its key is denied (400 `idempotency_key_reused`) with another query. Default:
   * it is with a `query` schema, and in front of an existing handler (`guard`, `wrap`, `hooks`), which may read any parameter.
   * Parameters of different names may change their order; all else is compared as received.
   */
  readonly compareQuery?: boolean
  /**
   * Checks a request before its run begins. It may parse the body and call other services, but has no access to what makes the
   * effect. Pass `effectId`, which is the same in every run of one request, to other services, so that their results can be
   * found again. It does not run for a replay. The value that it returns is the handler's `prepared`. If it returns a denial of
   * any status, or throws, the key is free again.
   */
  readonly prepare?: (
    call: GuardedCall<A> & CheckedInput<B, Q, P>,
    run: { readonly effectId: string },
  ) => Verdict<X> | Promise<Verdict<X>>
}

/** Options of a transactional route. */
export interface TransactionalOptions<
  A extends AccessLike,
  X = unknown,
  B = unknown,
  Q = unknown,
  P = unknown,
> extends WriteOptions<A, X, B, Q, P> {
  /**
   * Whether a request must have an `Idempotency-Key`. Without one, or with `none`, nothing is recorded: each request runs the handler in a
   * transaction of its own with a random `effectId`, and every response of 400 or more rolls it back, so the handler must be safe to repeat.
   * Only `required` suits a rule that spends. Default: `required`.
   */
  readonly idempotencyKey?: 'required' | 'optional' | 'none'
}

/** Options of an idempotent route. */
export interface IdempotentOptions<
  A extends AccessLike,
  X = unknown,
  B = unknown,
  Q = unknown,
  P = unknown,
  M extends AmountLike = AmountLike,
> extends WriteOptions<A, X, B, Q, P> {
  /**
   * Returns what the write spends, in minor units of a currency, for an operation whose rule spends. It runs after
   * `prepare` and before the handler, and not for a replay. The amount is reserved under every cap of the caller, with
   * `effectId` as the id of the hold; the handler gets it as `hold`. If the reservation is denied or fails, or the function
   * throws, the handler does not run and the key is free again. A repeat then finds a hold that was made all the same. It must not
   * return a promise: read in `prepare` what the amount depends on. Members of other names are ignored.
   */
  readonly amount?: (call: GuardedCall<A> & CheckedInput<B, Q, P> & { readonly prepared: X }) => M
  /**
   * Statuses (400 to 499) of errors that the handler throws before any effect, such as `[400, 422]` for errors of validation. If it
   * throws an error with such a `status`, `statusCode` or `getStatus()`, its holds are released and its key is free again. Where the
   * framework does not show the error, or the error has no status, the status of the error's response counts. Name a status only if
   * nothing throws it after an effect: errors of HTTP clients have the status of their response. Default: none, so that every error
   * leaves the outcome unknown. For a single error, throw `nothingHappened(error)`.
   */
  readonly noEffectStatuses?: readonly number[]
}
