import type { Verdict } from '@gatewright/kernel'
import type { HeaderField } from './answer.ts'
import type { RequestDenial } from './codes.ts'
import type { RequestFacts } from './facts.ts'
import type { AccessLike, SpendLike, WireAnswer } from './parts.ts'

/** A request as a handler gets it. */
export interface OpenCall {
  /** Canonical names: old paths and headers have been translated. */
  readonly facts: RequestFacts
  /** The body's bytes; empty where the method has none. */
  readonly body: Uint8Array
  /** The body as a JSON object; empty counts as `{}`. Denials: `invalid_request`, `unsupported_media_type`. */
  json(): Verdict<Record<string, unknown>, RequestDenial>
  /** Aborts when the client goes away before the answer is sent. A write that has begun should be finished. */
  readonly signal: AbortSignal
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
export type Prepare<A extends AccessLike, P> = (call: GuardedCall<A>) => Verdict<P> | Promise<Verdict<P>>

/** A step that may end the request. */
export type Stage<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly answer: WireAnswer }

/** A request in canonical names. */
export interface Entered {
  readonly facts: RequestFacts
  /** Fields for every answer, errors included. */
  readonly fields: readonly HeaderField[]
}

/** A request that passed the guard. */
export interface Authorised extends Entered {
  readonly access?: AccessLike
}

/** A request whose handler may run. */
export interface Admitted<C> {
  readonly call: C
  readonly fields: readonly HeaderField[]
  /**
   * Ends the run by its answer and gives the answer to send. Never fails: when the store does, the true answer is
   * still sent and the fault reported; when another run has decided meanwhile, a 503 tells the client to ask again.
   */
  settle(answer: WireAnswer): Promise<WireAnswer>
  /** Ends the run of a handler that failed: its outcome is unknown. Gives the rendered error. */
  fail(error: unknown): Promise<WireAnswer>
  /** The same for a handler whose error the framework renders. */
  lose(): Promise<void>
}

/** One operation, ready to be mounted by a binding. The steps never throw: what goes wrong is rendered. */
export interface Route<C extends OpenCall> {
  readonly operation: string
  readonly idempotent: boolean
  authorise(entered: Entered): Promise<Stage<Authorised>>
  admit(
    authorised: Authorised,
    readBody: () => Promise<Verdict<Uint8Array>>,
    signal: AbortSignal,
  ): Promise<Stage<Admitted<C>>>
}
