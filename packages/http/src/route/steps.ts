import type { HeaderField } from '@gatewright/kernel'
import type { WireResponse } from '../ports.ts'
import type { HandlerFailure } from '../response/no-effect.ts'
import type { InputSource } from '../request/input.ts'
import type { DecisionDraft } from '../response/decision.ts'
import type { Outcome } from '../response/outcome.ts'
import type { Authentication } from './credentials.ts'
import type { OpenCall } from '../handler-types.ts'
import type { RequestContext } from './request-context.ts'

/** The result of a step that may end the request: its value, or the response to send. */
export type StepResult<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly response: WireResponse
      /** The response is the stored one of an earlier request, as its handler wrote it. */
      readonly replayed?: true
    }

/** A request that the guard has accepted. */
export interface AuthorizedRequest {
  readonly context: RequestContext
  readonly authentication: Authentication
  /** When the credential was checked (`performance.now()`). */
  readonly checkedAtMs: number
  /** Header fields of this response, beside those of every response. */
  readonly fields: readonly HeaderField[]
}

/** The connection to the client of a request. */
export interface Connection {
  /** Whether the client disconnected before the response was complete. */
  readonly ended: boolean
  /**
   * Aborts when the client disconnects. It is created when it is first read: most handlers never read it, and creating it costs
   * more than all other work of a route.
   */
  readonly signal: AbortSignal
}

/** The functions by which a gate reads an authorized request from its framework. */
export interface RequestSource extends InputSource {
  readonly connection: Connection
  /** Whether the handler responds through its framework, so that a replay is sent as it was captured. */
  readonly captured: boolean
  /** Gives an existing handler its JSON body under current field names. Called only if `captured`, for a body with old ones. */
  readonly replaceBody: ((fields: Record<string, unknown>) => void) | undefined
}

/**
 * A request whose handler may run. Exactly one of the functions below is called, once, to end the run; before it, `leaveUnknown` may be.
 * None of them rejects.
 */
export interface StartedCall<C> {
  readonly call: C
  /** What the decision event of the request will contain, for a handler that runs its own steps. */
  readonly decision: DecisionDraft
  readonly fields: readonly HeaderField[]
  /** Ends the run with the handler's outcome and returns the response to send. If the store fails, the outcome is still sent. */
  finish(outcome: Outcome, handlerMs?: number): Promise<WireResponse>
  /** Ends the run with the response that an existing handler wrote. If another run has completed meanwhile, returns a 503. */
  finishCaptured(captured: WireResponse): Promise<WireResponse>
  /** Ends the run of a handler that failed: as `finish` does. Returns the rendered error. */
  fail(error: unknown): Promise<WireResponse>
  /**
   * Ends the run of a handler whose error the framework renders. The outcome is unknown, unless the team has declared that such a
   * failure had no effect.
   */
  failed(failure: HandlerFailure): Promise<void>
  /**
   * Records that the outcome is unknown, because a response of this status is sent before the handler is known to have ended. What the
   * handler then does can still end the run.
   */
  leaveUnknown(status: number): Promise<void>
  /** Whether the team has declared that a handler which failed with a response of this status had no effect, where its error cannot be seen. */
  isNoEffect(status: number): boolean
  /** Reports that an existing handler, which is not idempotent, has responded through its framework. */
  sent(status: number): void
}

/** One operation, ready to be mounted by a binding. Its steps never reject: errors are rendered. */
export interface Route<C extends OpenCall> {
  readonly operation: string
  readonly idempotent: boolean
  /** Whether its body is checked or recorded, so that it is read before an existing handler runs. */
  readonly readsBody: boolean
  /** Whether the alias table says that it renames fields of its body. */
  readonly renamesFields: boolean
  /** Verifies the credential and applies limits. */
  authorize(
    context: RequestContext,
    params: Readonly<Record<string, string>>,
  ): Promise<StepResult<AuthorizedRequest>>
  /** Reads and checks the request, and begins its idempotency record. */
  startCall(authorized: AuthorizedRequest, source: RequestSource): Promise<StepResult<StartedCall<C>>>
}

/** An operation with its own handler: a transactional write. */
export interface CompleteRoute<C extends OpenCall> extends Route<C> {
  run(call: C, decision: DecisionDraft): Promise<Outcome>
}
