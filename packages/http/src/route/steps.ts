import type { Verdict } from '@gatewright/kernel'
import type { OpenCall } from '../handler-types.ts'
import type { WireResponse } from '../ports.ts'
import type { RequestFacts } from '../request/facts.ts'
import type { DecisionDraft } from '../response/decision.ts'
import type { Outcome } from '../response/outcome.ts'
import type { RequestContext } from './request-context.ts'
import type { Run } from './run.ts'

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

/** What the binding of a framework gives of a request. */
export interface IncomingRequest {
  /** The framework's own request object. */
  readonly request: object
  facts(): RequestFacts
  /** Path parameters by name. */
  readonly params: Readonly<Record<string, string>>
  /** The pattern that the router matched, such as `/cards/:id`; undefined where a framework does not say. */
  readonly pattern?: unknown
  readBody(): Promise<Verdict<Uint8Array>>
  readonly connection: Connection
  /**
   * Present if an existing handler responds through its framework. Its response is captured, and a replay is sent as it was written.
   * The function gives it its JSON body under current field names; it is called only for a body with old ones.
   */
  readonly replaceBody: ((fields: Record<string, unknown>) => void) | undefined
}

/** The result of a step that may end the request: its value, or the response to send. */
export type StepResult<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly response: WireResponse
      /** The response is the stored one of an earlier request, as its handler wrote it. */
      readonly replayed?: true
    }

/** One operation, ready to be mounted by a binding. Its steps never reject: errors are rendered. */
export interface Route<C extends OpenCall> {
  readonly operation: string
  readonly idempotent: boolean
  /** Whether its body is checked or recorded, so that it is read before an existing handler runs. */
  readonly readsBody: boolean
  /** Whether the alias table says that it renames fields of its body. */
  readonly renamesFields: boolean
  /** The statuses of errors that the team declares to be thrown before any effect. */
  readonly noEffectStatuses: ReadonlySet<number>
  /** Verifies the credential and applies limits. Returns the response to a request that may not proceed. */
  authorize(context: RequestContext, incoming: IncomingRequest): Promise<WireResponse | undefined>
  /** Reads and checks an authorized request, and begins its idempotency record. */
  start(context: RequestContext, incoming: IncomingRequest): Promise<StepResult<Run<C>>>
}

/** An operation with its own handler: a transactional write. */
export interface CompleteRoute<C extends OpenCall> extends Route<C> {
  run(call: C, decision: DecisionDraft): Promise<Outcome>
}
