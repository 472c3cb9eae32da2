import type { HeaderField } from '@gatewright/kernel'
import type { RunRecord } from '../idempotency/record.ts'
import type { WireResponse } from '../ports.ts'
import { withoutFields } from '../response/http-response.ts'
import { hadNoEffect, type HandlerFailure } from '../response/no-effect.ts'
import { storedForm, type Outcome } from '../response/outcome.ts'
import { outcomeOfFailure, outcomeOfRead } from '../response/thrown-response.ts'
import { conclude, concludeSent } from './conclude.ts'
import type { GateContext, RequestContext } from './request-context.ts'

/**
 * A request whose handler may run. Exactly one of `finish`, `finishCaptured` and `fail` is called, once, to end the run; before it,
 * `leaveUnknown` may be. None of them rejects: if the store fails, the outcome is still sent and the fault is reported.
 */
export class Run<C> {
  /** What the handler gets. */
  readonly call: C
  readonly context: RequestContext
  readonly #gate: GateContext
  readonly #record: RunRecord | undefined

  /** Without a record the operation is not idempotent, and nothing is stored. */
  constructor(gate: GateContext, context: RequestContext, call: C, record?: RunRecord) {
    this.call = call
    this.context = context
    this.#gate = gate
    this.#record = record
  }

  /** Returns the header fields of the gate for a response that an existing handler writes. */
  fields(): readonly HeaderField[] {
    return [...this.context.fields(), ...this.context.routeFields]
  }

  /** Ends the run with the handler's outcome and returns the response to send: a failure, if another run of the key has completed meanwhile. */
  async finish(outcome: Outcome, handlerMs = 0): Promise<WireResponse> {
    this.context.decision.handlerMs = handlerMs
    if (!this.#record) return this.#respond(outcomeOfRead(outcome))
    const { final, stored } = storable(outcome)
    if (final.kind !== 'failure') {
      const { instead, fields } = await this.#record.end(stored)
      return this.#respond(instead ?? final, fields)
    }
    const failure = { error: final.error, status: stored.status }
    const { instead, fields } = await this.#record.fail(failure)
    const mayShow = hadNoEffect(this.#record.noEffectStatuses, failure)
    return this.#respond(instead ?? (mayShow ? outcomeOfFailure(final) : final), fields)
  }

  /** Ends the run with the response that an existing handler wrote. If another run has completed meanwhile, returns a 503. */
  async finishCaptured(captured: WireResponse): Promise<WireResponse> {
    // The gate's header fields are not stored with the response: each retry gets its own.
    const headers = withoutFields(captured.headers, this.fields())
    const { instead, fields = [] } = (await this.#record?.end({ ...captured, headers })) ?? {}
    if (instead) return this.#respond(instead, fields)
    const response = { ...captured, headers: [...fields, ...captured.headers] }
    concludeSent(this.#gate, this.context, response)
    return response
  }

  /**
   * Ends the run of an existing handler that failed, where the framework renders the error. The outcome is unknown, unless the team has
   * declared that such a failure had no effect.
   */
  async fail(failure: HandlerFailure): Promise<void> {
    await this.#record?.fail(failure)
    concludeSent(this.#gate, this.context, { status: failure.status, headers: this.context.routeFields })
  }

  /**
   * Records that the outcome is unknown, because a response of this status is sent before the handler is known to have ended. What the
   * handler then does can still end the run.
   */
  async leaveUnknown(status: number): Promise<void> {
    await this.#record?.leaveUnknown(status)
    concludeSent(this.#gate, this.context, { status, headers: this.context.routeFields })
  }

  #respond(outcome: Outcome, fields?: readonly HeaderField[]): WireResponse {
    return conclude(this.#gate, this.context, outcome, fields)
  }
}

/** Returns an outcome with its stored form. A response that JSON cannot represent becomes a failure before the run ends. */
function storable(outcome: Outcome): { readonly final: Outcome; readonly stored: WireResponse } {
  try {
    return { final: outcome, stored: storedForm(outcome) }
  } catch (error) {
    const final: Outcome = { kind: 'failure', error }
    return { final, stored: storedForm(final) }
  }
}
