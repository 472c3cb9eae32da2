import type { HandlerResponse, IdempotentCall, OpenCall } from '@gatewright/http'
import { onlyAmount, type CanonicalFacts, type GuardedCall, type OpenHold } from '@gatewright/http/internal'
import type { AmountLike } from '@gatewright/http/internal'
import type { Session, Verdict } from '@gatewright/kernel'
import type { Access, SpendHold } from '@gatewright/scope-guard'

/** Path parameters by name, as a router reads them. An interface, so that editors show its name. */
export interface PathParams {
  readonly [name: string]: string
}

/** A request to an operation that anyone may call. */
export interface OpenRequest<B = unknown, Q = unknown, P = PathParams> {
  /** The body, as its schema returned it. Undefined without a schema. */
  readonly body: B
  /** The query, as its schema returned it. Undefined without a schema. */
  readonly query: Q
  /** The path parameters, as their schema returned them; without a schema as the framework read them. */
  readonly params: P
  /** Method, path, headers and address of the request. */
  readonly facts: CanonicalFacts
  /** Returns a signal that aborts when the client disconnects. Finish a write that has begun. */
  signal(): AbortSignal
}

/** A request to an operation that requires a session. */
export interface ReadRequest<Q = unknown, P = PathParams> extends Omit<OpenRequest<undefined, Q, P>, 'body'> {
  /** The caller: its account, key and scopes. */
  readonly session: Session
}

/** A write, which runs at most once for each `Idempotency-Key` of an account. */
export interface WriteRequest<B = unknown, Q = unknown, P = PathParams> extends ReadRequest<Q, P> {
  /** The JSON body, as its schema returned it. */
  readonly body: B
  /** The stable id of the effect, the same when a client repeats the request: pass it to the payment processor as its idempotency key. */
  readonly effectId: string
  /** Grows with every run of the request. A receiver that rejects a smaller fence than it has seen stops late runs. */
  readonly fence: number
  /**
   * With `spends` or `withdraws` as a function: the amount, which was held before the handler. Success counts it in full, a 4xx
   * response releases it. `hold.settle(actualCents)` counts less.
   */
  readonly hold: OpenHold<SpendHold>
  /**
   * With `spends: 'spend'` or `'withdrawal'`: holds an amount under every cap of the caller, before the effect. Return its denial. Then
   * say how the hold ends: `hold.settle(actualCents)`, `hold.release()` or `hold.keep()`.
   */
  reserve(amount: AmountLike): Promise<Verdict<OpenHold<SpendHold>>>
  /** With `spends: 'spend'` or `'withdrawal'`: says that this request spends nothing, so that it may succeed without `reserve`. */
  spendsNothing(): void
}

/** What `protectRead` and `protectWrite` return: a middleware, which also gives the accepted request to the handlers after it. */
export type Protecting<Middleware, Request, Accepted> = Middleware & {
  /** Returns the request that this middleware has accepted. Throws a `TypeError` for any other request. */
  accepted(request: Request): Accepted
}

/** Handles a request. Returns a response, whose body is sent as JSON, or a denial. */
export type Respond<T> = (request: T) => HandlerResponse | Promise<HandlerResponse>

/** Makes the argument of an open operation's handler. */
export function openRequestOf({
  input,
  params,
  facts,
  signal,
}: OpenCall): OpenRequest<unknown, unknown, unknown> {
  return { body: input.body, query: input.query, params: input.params ?? params, facts, signal }
}

/** Makes the argument of a read's handler. */
export function readRequestOf(call: OpenCall): ReadRequest<unknown, unknown> {
  const { input, params, facts, signal, session } = call as GuardedCall<Access>
  return { query: input.query, params: input.params ?? params, facts, signal, session }
}

/** Makes the function that makes the argument of a write's handler. */
export function writeRequestOf(
  operation: string,
): (call: OpenCall) => WriteRequest<unknown, unknown, unknown> {
  const missing = (name: string, needed: string) => (): never => {
    throw new TypeError(`${operation}: ${name} needs ${needed} in the options of the operation`)
  }
  const inHandler = "spends: 'spend' or 'withdrawal'"
  const noReserve = missing('reserve', inHandler)
  const noSpendsNothing = missing('spendsNothing', inHandler)
  const noHold = missing('hold', 'spends or withdraws as a function of the body')
  const withoutHold = { settle: noHold, release: noHold, keep: noHold }
  return call => {
    const { input, params, facts, signal, session, effect, ...spending } = call as WriteCall
    const { hold = withoutHold, reserve, spendsNothing = noSpendsNothing } = spending
    return {
      body: input.body,
      query: input.query,
      params: input.params ?? params,
      facts,
      signal,
      session,
      effectId: effect.effectId,
      fence: effect.fence,
      hold,
      reserve: reserve ? amount => reserve(onlyAmount(amount)) : noReserve,
      spendsNothing,
    }
  }
}

/** The call of any write: `hold` or `reserve` and `spendsNothing` depend on how it spends. */
type WriteCall = IdempotentCall<Access> & Partial<Pick<WriteRequest, 'hold' | 'reserve' | 'spendsNothing'>>
