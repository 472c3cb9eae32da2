import type { HeaderField } from '@gatewright/kernel'
import type { Settings } from '../options.ts'
import type { WireResponse } from '../ports.ts'
import type { CanonicalFacts } from '../request/facts.ts'
import { errorResponse, hasField, wire, withFields } from '../response/http-response.ts'
import { causeOf, fieldValue, type Decision } from '../response/decision.ts'
import type { Outcome } from '../response/outcome.ts'
import type { GateContext, RequestContext } from './request-context.ts'

/**
 * Ends a request that the gate responds to: renders the outcome, reports a failure and emits the decision event. `fields` are header fields
 * of this outcome alone. Never throws: if an outcome cannot be rendered, the response is a plain 500.
 */
export function conclude(
  { settings }: GateContext,
  context: RequestContext,
  concluded: Outcome,
  fields: readonly HeaderField[] = [],
): WireResponse {
  const outcome = withMetadata(settings, concluded)
  const { facts, requestId, decision } = context
  const { operation } = decision
  const report = (error: unknown): void =>
    settings.report({ operation: operation ?? `${facts.method} ${facts.path}`, error })
  let rendered = outcome
  let response: WireResponse
  if (outcome.kind === 'failure') report(outcome.error)
  try {
    const { render = settings.render } = context
    response = wire(render(outcome, { facts, operation, requestId }))
  } catch (error) {
    report(error)
    rendered = { kind: 'failure', error }
    response = wire(errorResponse('plain'))
  }
  const sent = withFields(response, [...context.fields(), ...fields, ...context.routeFields])
  emitDecision(settings, context, sent, rendered)
  return sent
}

/** Adds the URL of the API's metadata to the challenges of a denial. */
function withMetadata({ resource }: Settings, outcome: Outcome): Outcome {
  if (!resource || outcome.kind !== 'denial') return outcome
  return { kind: 'denial', denial: resource.pointTo(outcome.denial) }
}

/** Ends a request that the framework responds to: emits the decision event and renders nothing. */
export function concludeSent(
  { settings }: GateContext,
  context: RequestContext,
  response: Pick<WireResponse, 'status' | 'headers'>,
): void {
  emitDecision(settings, context, response, { kind: 'response', response: { body: undefined, ...response } })
}

/** Emits the decision event of a request once, since a server may end a request in more than one way. */
function emitDecision(
  { observe, hints, dialect }: Settings,
  { facts, requestId, startedAtMs, traceparent, decision: draft }: RequestContext,
  { status, headers }: Pick<WireResponse, 'status' | 'headers'>,
  outcome: Outcome,
): void {
  if (draft.emitted) return
  draft.emitted = true
  if (outcome.kind === 'denial') hints.denied(draft.operation, outcome.denial)
  if (!observe) return
  const { code, reason, rule, denial, failure } = causeOf(outcome)
  // No object spreads: they would cost more than all other work of the gate for a plain response (npm run bench --
  // scope-guard-http).
  const decision: Decision = {
    requestId,
    traceparent,
    traceId: traceparent?.split('-')[1],
    method: facts.method,
    byTool: draft.byTool,
    operation: draft.operation,
    route: draft.route,
    credential: draft.credential,
    accountId: draft.ids.accountId,
    keyId: draft.ids.keyId,
    sessionId: draft.ids.sessionId,
    policyRevision: draft.ids.policyRevision,
    status,
    code,
    reason,
    rule,
    denial,
    limits: fieldValue(headers, 'ratelimit'),
    aliases: aliasIds(facts.oldNames),
    replayed: hasField(headers, dialect.replayedField.toLowerCase()),
    outcome: draft.outcome,
    effectId: draft.effectId,
    durationMs: performance.now() - startedAtMs,
    guardMs: draft.guardMs,
    handlerMs: draft.handlerMs,
    storeMs: draft.storeMs,
    failure,
  }
  observe(Object.freeze(decision))
}

const NO_IDS: readonly string[] = Object.freeze([])

function aliasIds(oldNames: CanonicalFacts['oldNames']): readonly string[] {
  return oldNames.length === 0 ? NO_IDS : Object.freeze([...new Set(oldNames.map(({ alias }) => alias.id))])
}
