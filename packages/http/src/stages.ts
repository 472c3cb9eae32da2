import type { Denial, HeaderField, Verdict } from '@gatewright/kernel'
import type { RequestDenial } from './codes.ts'
import type { Proven } from './credentials.ts'
import type { Exchange, Stage } from './exchange.ts'
import type { CanonicalFacts } from './facts.ts'
import type { Input, InputSchemas, InputSource } from './input.ts'
import type { Connection } from './node-response.ts'
import type { Outcome, Refusal } from './outcome.ts'
import type { AccessLike, SpendLike, SpentLike, WireAnswer } from './parts.ts'

/** A request as a handler gets it. */
export interface OpenCall {
  /** Canonical names: old paths and headers have been translated. */
  readonly facts: CanonicalFacts
  /** The body's bytes; empty where the method has none. */
  readonly body: Uint8Array
  /** What the route's schemas made of body, query and path parameters. */
  readonly input: Input
  /** Path parameters by name, as the framework read them. */
  readonly params: Readonly<Record<string, string>>
  /** The body as a JSON object; empty counts as `{}`. Denials: `invalid_request`, `unsupported_media_type`. */
  json(): Verdict<Record<string, unknown>, RequestDenial>
  /**
   * Aborts when the client goes away before the answer is sent. A write that has begun should be finished. A function, since a
   * signal is dear to make and most handlers need none.
   */
  signal(): AbortSignal
}

/** A request that proved one of the credentials which its route names. */
export interface CallerCall<N extends string, T> extends OpenCall {
  readonly credential: N
  readonly caller: T
}

/** A request that the guard let pass. */
export interface GuardedCall<A extends AccessLike> extends OpenCall {
  readonly access: A
  readonly session: A['session']
}

/**
 * A write that runs at most once per idempotency key. Give `effectId` or `fence` to whoever makes the effect. The key is
 * free again where the handler returns a refusal (400, 403, 422 ...); whatever it throws, the outcome is unknown.
 */
export interface IdempotentCall<A extends AccessLike, P = unknown> extends GuardedCall<A> {
  readonly effect: { readonly effectId: string; readonly fence: number }
  /** What the route's `prepare` made. */
  readonly prepared: P
}

/** An idempotent write whose rule says that it spends. */
export interface SpendingCall<A extends AccessLike, H, P = unknown> extends IdempotentCall<A, P> {
  /**
   * Holds an amount under every cap of the caller, before the effect: return the denial, which may be of a wrong amount
   * (400). The amount is kept with the answer, for the limits of whoever asks again. The hold's id is `effectId`, for the
   * second one of a run `effectId-2` and so on, so that a run of unknown outcome finds its holds when it runs again.
   * A returned refusal gives the holds back before the key is free, except those that the handler has ended; an answer
   * that is kept (2xx, 404, 409 ...) keeps them: settle them, or store them with the business row.
   */
  reserve(spend: SpendLike): Promise<Verdict<H>>
}

/**
 * Looks at a request before its run begins: it may parse the body and ask the network, and has nothing to make an effect
 * with. Runs where no stored answer exists. What it returns is the handler's `call.prepared`; a denial that it returns,
 * of any status, and an error that it throws free the key.
 */
export type Prepare<C, P> = (call: C) => Verdict<P> | Promise<Verdict<P>>

/** What a transactional write works with, beside its call. */
export interface Effect<Tx, H, P = unknown> {
  /** The one transaction of record and rows. Nothing else may be used while it is open. */
  readonly tx: Tx
  /** The same on every run of the same idempotency key. */
  readonly effectId: string
  readonly fence: number
  readonly prepared: P
  /**
   * Holds an amount under every cap of the caller, in the same transaction: once, under `effectId`, and only where the rule
   * spends. Denials: `policy_blocked`, `invalid_request`.
   */
  reserve(spend: SpentLike): Promise<Verdict<H>>
  /** Whether an amount passes the caller's limits on one operation: for what the same effect made before. */
  permits(spent: SpentLike): Promise<Verdict<unknown>>
  /**
   * Ends the run as if it had never begun: nothing is committed, nothing is stored, and the same key may come again. For a refusal
   * that would be stored otherwise (404, 409), and that can be over by the next request.
   */
  abandon(denial: Denial): never
}

/** What a route can say beside its rule. */
export interface RouteOptions<T = unknown, B = unknown, Q = unknown, P = unknown>
  extends InputSchemas<B, Q, P> {
  /**
   * Runs after the credential and before the body is read: a limit of the route's own, say. Gives header fields for the answer;
   * `RateLimit` fields are joined to the guard's.
   */
  admit?(entry: Entry<T>): Promise<Verdict<readonly HeaderField[], Refusal>>
}

/** A request whose credential is proven. */
export interface Entry<T> {
  readonly facts: CanonicalFacts
  readonly params: Readonly<Record<string, string>>
  readonly caller: T
}

/** A request that passed the guard. */
export interface Authorised {
  readonly exchange: Exchange
  readonly proven: Proven
  /** Fields that the answer carries, beside those of every answer. */
  readonly fields: readonly HeaderField[]
}

/** A request whose handler may run. Each of the endings is called once at most, and never fails. */
export interface Admitted<C> {
  readonly call: C
  readonly fields: readonly HeaderField[]
  /** Ends the run by what the handler came to, and gives the answer to send: rendered, and the true one when the store fails. */
  finish(outcome: Outcome, handlerMs?: number): Promise<WireAnswer>
  /** Ends the run by what an existing handler wrote. When another run has decided meanwhile, the answer is a 503. */
  settle(written: WireAnswer): Promise<WireAnswer>
  /** Ends the run of a handler that failed: its outcome is unknown. Gives the rendered error. */
  fail(error: unknown): Promise<WireAnswer>
  /** The same for a handler whose error the framework renders, with the status that it sends. */
  lose(status: number): Promise<void>
  /** An existing handler that is not idempotent has answered by its framework. */
  sent(status: number): void
}

/** What a binding reads of a request that was let in. */
export interface Source extends InputSource {
  readonly connection: Connection
  /** The handler answers by its framework, so an earlier answer is given as it was written. */
  readonly written: boolean
}

/** One operation, ready to be mounted by a binding. The steps never throw: what goes wrong is rendered. */
export interface Route<C extends OpenCall> {
  readonly operation: string
  readonly idempotent: boolean
  /** The credential and its limits. */
  authorise(exchange: Exchange, params: Readonly<Record<string, string>>): Promise<Stage<Authorised>>
  /** The body, its checks, and the idempotency record. */
  admit(authorised: Authorised, source: Source): Promise<Stage<Admitted<C>>>
}

/** An operation that brings its handler along: a transactional write. */
export interface CompleteRoute<C extends OpenCall> extends Route<C> {
  run(call: C): Promise<Outcome>
}
