import { Fault, type HeaderField } from '@gatewright/kernel'
import { hasField } from './answer.ts'
import type { Outcome } from './outcome.ts'

/** Who called: ids, and nothing that proves anything. */
export interface CallerIds {
  readonly accountId: string | undefined
  readonly keyId: string | undefined
  readonly sessionId: string | undefined
}

/** What was decided about one request: frozen, and redacted by construction, since only these members exist. */
export interface Decision extends CallerIds {
  readonly requestId: string
  /** W3C trace id of the caller, where it sent one. */
  readonly traceId: string | undefined
  readonly method: string
  /** The operation's id; undefined where none was reached. Never the path, which may hold ids. */
  readonly operation: string | undefined
  /** The credential that was read, by its name. */
  readonly credential: string | undefined
  readonly status: number
  /** The refusal's code, where there is one. */
  readonly code: string | undefined
  /** The exact cause that answers keep back: a denial's `reason`, such as the claim that failed, or a fault's code. */
  readonly reason: string | undefined
  /** The policy rule that blocked. */
  readonly rule: string | undefined
  /** What the rate limits had left: the `RateLimit` field of the answer. */
  readonly limits: string | undefined
  /** Ids of the old names that were used. */
  readonly aliases: readonly string[]
  /** The answer is an earlier one of the same write. */
  readonly replayed: boolean
  /** From the first look at the request to its answer, in ms. */
  readonly durationMs: number
  /** Of it: the credential and its limits. */
  readonly guardMs: number
  /** Of it: the handler. */
  readonly handlerMs: number
  /** Of it: the idempotency record. */
  readonly storeMs: number
  /** A fault, or an error that nobody expected. */
  readonly failure: unknown
}

/** Takes the decision event of each request. What it throws is warned of and changes no answer. */
export type Observe = (decision: Decision) => void

/** What is noted of a request until its event is made. */
export interface Notes {
  operation: string | undefined
  credential: string | undefined
  ids: CallerIds
  guardMs: number
  handlerMs: number
  storeMs: number
  /** Its event has been made. */
  told: boolean
}

const NOBODY: CallerIds = Object.freeze({ accountId: undefined, keyId: undefined, sessionId: undefined })

/** Notes of a request of which nothing is known. */
export function newNotes(): Notes {
  return {
    operation: undefined,
    credential: undefined,
    ids: NOBODY,
    guardMs: 0,
    handlerMs: 0,
    storeMs: 0,
    told: false,
  }
}

/** What an event says of an outcome. */
export function causeOf(outcome: Outcome): Pick<Decision, 'code' | 'reason' | 'rule' | 'failure'> {
  if (outcome.kind === 'failure') {
    const { error } = outcome
    const isFault = error instanceof Fault
    const code = isFault ? 'service_unavailable' : 'internal_error'
    return { code, reason: isFault ? error.code : undefined, rule: undefined, failure: error }
  }
  const { code, reason, details } = outcome.kind === 'denial' ? outcome.denial : answered(outcome.answer.body)
  const rule = details?.['rule']
  return { code, reason, rule: typeof rule === 'string' ? rule : undefined, failure: undefined }
}

/** A handler may answer with an error object of its own. */
function answered(body: unknown): { code?: string; reason?: string; details?: Record<string, unknown> } {
  const error = typeof body === 'object' && body !== null ? (body as { error?: unknown }).error : undefined
  return typeof error === 'string' ? { code: error } : {}
}

/** The value of a header field, all of its lines joined. */
export function fieldValue(headers: readonly HeaderField[], name: string): string | undefined {
  if (!hasField(headers, name)) return undefined
  return headers.flatMap(([held, value]) => (held.toLowerCase() === name ? [value] : [])).join(', ')
}

/** The trace id of a `traceparent` field (W3C Trace Context section 3.2); undefined for anything malformed. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/.exec(traceparent ?? '')
  return match?.[1] === undefined || /^0+$/.test(match[1]) ? undefined : match[1]
}
