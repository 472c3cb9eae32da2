import type { HeaderField } from '@gatewright/kernel'
import { randomUUID } from 'node:crypto'
import { errorAnswer, hasField, wire, withFields } from './answer.ts'
import { deny } from './codes.ts'
import { exposure } from './cors.ts'
import { causeOf, fieldValue, newNotes, traceIdOf, type Decision, type Notes } from './decision.ts'
import type { CanonicalFacts, RequestFacts } from './facts.ts'
import type { Settings } from './options.ts'
import type { Outcome } from './outcome.ts'
import type { AliasPart, WireAnswer } from './parts.ts'

/** One request in canonical names, and what is noted of it. */
export interface Exchange {
  readonly facts: CanonicalFacts
  readonly requestId: string
  readonly startedAtMs: number
  readonly notes: Notes
  /** Fields for every answer, errors included; more old names may bring more of them. */
  fields(): readonly HeaderField[]
}

/** A step that may end the request. */
export type Stage<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly answer: WireAnswer }

/** What a gate works with in every step. */
export interface Works {
  readonly settings: Settings
  readonly aliases: AliasPart | undefined
  /** Whether the server is being shut down: answers then end their connection. */
  draining: boolean
}

const CLOSE: readonly HeaderField[] = [['Connection', 'close']]

/** Translates old names. HTTPS is asked for first, so that nothing is decided about a request sent in the clear. */
export function enter(works: Works, received: RequestFacts): Stage<Exchange> {
  const { settings, aliases } = works
  const exchange = exchangeOf(works, received)
  const refuse = (outcome: Outcome): Stage<never> => ({
    ok: false,
    answer: conclude(works, exchange, outcome),
  })
  if (settings.requireHttps && !received.secure)
    return refuse({ kind: 'denial', denial: deny('https_required', 'this API is served over HTTPS only') })
  if (!received.path.startsWith('/'))
    return refuse({ kind: 'denial', denial: deny('invalid_request', 'the request target must be a path') })
  if (!aliases) return { ok: true, value: exchange }
  try {
    const resolved = aliases.resolve(received)
    const { oldNames } = exchange.facts
    if (!resolved.ok) {
      oldNames.push(...((resolved as { used?: typeof oldNames }).used ?? []))
      return refuse({ kind: 'denial', denial: resolved })
    }
    const { path, headers, used = [], answerHeaders } = resolved.value
    oldNames.push(...used)
    const header = (name: string): string | undefined => headers[name] ?? received.header(name)
    return { ok: true, value: exchangeOf(works, { ...received, path, header }, exchange, answerHeaders) }
  } catch (error) {
    return refuse({ kind: 'failure', error })
  }
}

/** `first`: the same request, under the names that it came with. */
function exchangeOf(
  works: Works,
  facts: RequestFacts,
  first?: Exchange,
  resolved: readonly HeaderField[] = [],
): Exchange {
  const { settings, aliases } = works
  const oldNames = first?.facts.oldNames ?? []
  const exposed = settings.exposeHeaders ? exposure(facts) : []
  return {
    facts: { ...facts, oldNames },
    requestId: first?.requestId ?? randomUUID(),
    startedAtMs: first?.startedAtMs ?? performance.now(),
    notes: first?.notes ?? newNotes(),
    fields() {
      const named = aliases?.answerHeaders && oldNames.length > 0 ? aliases.answerHeaders(oldNames) : resolved
      return [...exposed, ...named, ...(works.draining ? CLOSE : [])]
    },
  }
}

/**
 * Ends a request that the gate answers: renders the outcome, reports a failure and tells what was decided. Never throws: what
 * cannot be rendered is a failure with a plain 500.
 */
export function conclude(
  { settings }: Works,
  exchange: Exchange,
  outcome: Outcome,
  fields: readonly HeaderField[] = [],
): WireAnswer {
  const { facts, requestId, notes } = exchange
  const { operation } = notes
  const report = (error: unknown): void =>
    settings.report({ operation: operation ?? `${facts.method} ${facts.path}`, error })
  let said = outcome
  let answer: WireAnswer
  if (outcome.kind === 'failure') report(outcome.error)
  try {
    answer = wire(settings.render(outcome, { facts, operation, requestId }))
  } catch (error) {
    report(error)
    said = { kind: 'failure', error }
    answer = wire(errorAnswer('plain'))
  }
  const sent = withFields(answer, [...exchange.fields(), ...fields])
  tell(settings, exchange, sent, said)
  return sent
}

/** Ends a request whose answer is the server's own: nothing is rendered. */
export function concludeAs(
  { settings }: Works,
  exchange: Exchange,
  answer: Pick<WireAnswer, 'status' | 'headers'>,
): void {
  tell(settings, exchange, answer, { kind: 'answer', answer: { body: undefined, ...answer } })
}

/** Once per request: a server may end one in more than one way. */
function tell(
  { observe }: Settings,
  { facts, requestId, startedAtMs, notes }: Exchange,
  { status, headers }: Pick<WireAnswer, 'status' | 'headers'>,
  outcome: Outcome,
): void {
  if (notes.told) return
  notes.told = true
  if (!observe) return
  const { code, reason, rule, failure } = causeOf(outcome)
  // Member by member: spread into one, the parts would cost more than all else that the gate does for a plain answer.
  const decision: Decision = {
    requestId,
    traceId: traceIdOf(facts.header('traceparent')),
    method: facts.method,
    operation: notes.operation,
    credential: notes.credential,
    accountId: notes.ids.accountId,
    keyId: notes.ids.keyId,
    sessionId: notes.ids.sessionId,
    status,
    code,
    reason,
    rule,
    limits: fieldValue(headers, 'ratelimit'),
    aliases: idsOf(facts.oldNames),
    replayed: hasField(headers, 'idempotency-replayed'),
    durationMs: performance.now() - startedAtMs,
    guardMs: notes.guardMs,
    handlerMs: notes.handlerMs,
    storeMs: notes.storeMs,
    failure,
  }
  observe(Object.freeze(decision))
}

const NO_NAMES: readonly string[] = Object.freeze([])

function idsOf(oldNames: CanonicalFacts['oldNames']): readonly string[] {
  return oldNames.length === 0 ? NO_NAMES : Object.freeze([...new Set(oldNames.map(({ alias }) => alias.id))])
}
