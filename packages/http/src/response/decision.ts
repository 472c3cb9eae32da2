import { Fault, type Denial, type HeaderField } from '@gatewright/kernel'
import type { CallerIds } from '../ports.ts'
import type { Outcome } from './outcome.ts'

/** The decision event of one request: what was decided and why. Frozen; it has no member for a credential, body or path. */
export interface Decision extends CallerIds {
  /** The id of a trusted proxy (`RequestFacts.proxyRequestId`), or a new one. */
  readonly requestId: string
  /** The field `traceparent` of the request; undefined if it has none or a malformed one (W3C Trace Context section 3.2). */
  readonly traceparent: string | undefined
  /** The trace id in `traceparent`. */
  readonly traceId: string | undefined
  readonly method: string
  /** Whether the request came as a call of a tool, or as another message of the Model Context Protocol. */
  readonly byTool: boolean
  /** The id of the operation; undefined if none was found. Never the path, which may contain ids. */
  readonly operation: string | undefined
  /** The pattern that the router matched, such as `/cards/:id`; undefined where the framework does not say. */
  readonly route: string | undefined
  /**
   * Identifies the ids and the content of the policies that applied: another one after a change of any of them. Undefined without a
   * verified session.
   */
  readonly policyRevision: string | undefined
  /** The name of the credential that was verified. */
  readonly credential: string | undefined
  readonly status: number
  /** The code of the denial, if the request was denied. */
  readonly code: string | undefined
  /** The exact cause, which is not part of the response: the `reason` of a denial, such as the claim that failed, or the code of a fault. */
  readonly reason: string | undefined
  /** The policy rule that blocked. */
  readonly rule: string | undefined
  /** The denial of the request: what its response says, and the exact cause. Undefined: it was not denied. */
  readonly denial: Denial | undefined
  /** The state of the rate limits: the `RateLimit` field of the response. */
  readonly limits: string | undefined
  /** Ids of the old names that the request used. */
  readonly aliases: readonly string[]
  /** Whether the response is a replay of an earlier response. */
  readonly replayed: boolean
  /**
   * How the run of an idempotent write ended: its response is `stored`; it had no effect, so its key is free (`released`); whether
   * it took effect is `unknown`, so its key is locked; another run had decided about the key (`late`). Undefined: no run has ended,
   * as for a denial, a replay, a transactional write, or another operation. `unknown` also for a denial with `outcome_unknown`.
   */
  readonly outcome: 'stored' | 'released' | 'unknown' | 'late' | undefined
  /**
   * The id of the effect of an idempotent write, to ask the payment processor or the ledger about: the same for each run and each replay
   * of one request. Undefined for another operation, and for a write that was denied before its key was looked up.
   */
  readonly effectId: string | undefined
  /** From the arrival of the request at the gate to its response, in ms. */
  readonly durationMs: number
  /** The part of `durationMs` for the credential and the limits. */
  readonly guardMs: number
  /** The part of `durationMs` for the handler. */
  readonly handlerMs: number
  /** The part of `durationMs` for the idempotency record. */
  readonly storeMs: number
  /** A fault or an unexpected error; undefined if the request did not fail. */
  readonly failure: unknown
}

/** Receives the decision event of each request. If it throws, a process warning is emitted and the response is unchanged. */
export type Observe = (decision: Decision) => void

/** The decision event of a request while it is collected. */
export interface DecisionDraft {
  byTool: boolean
  operation: string | undefined
  route: string | undefined
  credential: string | undefined
  ids: CallerIds
  outcome: Decision['outcome']
  effectId: string | undefined
  guardMs: number
  handlerMs: number
  storeMs: number
  /** Whether the event has been emitted. */
  emitted: boolean
}

const NO_IDS: CallerIds = Object.freeze({ accountId: undefined, keyId: undefined, sessionId: undefined })

/** Makes the draft at the arrival of a request. */
export function newDecisionDraft(): DecisionDraft {
  return {
    byTool: false,
    operation: undefined,
    route: undefined,
    credential: undefined,
    ids: NO_IDS,
    outcome: undefined,
    effectId: undefined,
    guardMs: 0,
    handlerMs: 0,
    storeMs: 0,
    emitted: false,
  }
}

/** Returns the members of a decision event that come from the outcome. */
export function causeOf(outcome: Outcome): Pick<Decision, 'code' | 'reason' | 'rule' | 'denial' | 'failure'> {
  if (outcome.kind === 'failure') {
    const { error } = outcome
    const isFault = error instanceof Fault
    const code = isFault ? 'service_unavailable' : 'internal_error'
    return {
      code,
      reason: isFault ? error.code : undefined,
      rule: undefined,
      denial: undefined,
      failure: error,
    }
  }
  const denial = outcome.kind === 'denial' ? outcome.denial : undefined
  const { code, reason, details } = denial ?? errorOf((outcome as ResponseOutcome).response.body)
  const rule = details?.['rule']
  return { code, reason, rule: typeof rule === 'string' ? rule : undefined, denial, failure: undefined }
}

type ResponseOutcome = Extract<Outcome, { readonly kind: 'response' }>

/** Reads the code of an error object that a handler returned as its response. */
function errorOf(body: unknown): { code?: string; reason?: string; details?: Record<string, unknown> } {
  const error = typeof body === 'object' && body !== null ? (body as { error?: unknown }).error : undefined
  return typeof error === 'string' ? { code: error } : {}
}

/** Returns the value of a header field, with all of its lines joined. */
export function fieldValue(headers: readonly HeaderField[], name: string): string | undefined {
  const values = headers.filter(([field]) => field.length === name.length && field.toLowerCase() === name)
  return values.length === 0 ? undefined : values.map(([, value]) => value).join(', ')
}

/**
 * Returns the first four parts of a `traceparent` field (W3C Trace Context section 3.2), which are all of version 00; undefined if it is
 * malformed.
 */
export function traceparentOf(field: string | undefined): string | undefined {
  const match = /^([0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2})(?:$|-)/.exec(field ?? '')
  return match?.[2] === undefined || /^0+$/.test(match[2]) ? undefined : match[1]
}
