import type { Session, Verdict, HeaderField } from '@gatewright/kernel'
import type { Settings } from '../options.ts'
import type { AliasPort } from '../ports.ts'
import type { CanonicalFacts, OldName, RequestFacts } from '../request/facts.ts'
import { exposureFields } from '../response/cors.ts'
import { newDecisionDraft, traceparentOf, type DecisionDraft } from '../response/decision.ts'

/** The state that all requests of a gate share. */
export interface GateContext {
  readonly settings: Settings
  readonly aliases: AliasPort | undefined
  /** Whether the server is shutting down. Responses then close their connection. */
  draining: boolean
}

/**
 * One request after its old names (of paths, header fields and body members) were translated to current ones, with what its
 * decision event will contain.
 */
export interface RequestContext {
  readonly facts: CanonicalFacts
  /** The id of a trusted proxy, or a new one. */
  readonly requestId: string
  readonly startedAtMs: number
  /** The field `traceparent`, for the decision event. Read on arrival: Deno lets nobody read a request whose connection was taken over. */
  readonly traceparent: string | undefined
  readonly decision: DecisionDraft
  /** The session that a guard has accepted, or what `session(request)` has asked for. */
  session: Session | Promise<Verdict<Session>> | undefined
  /**
   * Returns header fields for every response, errors included. Compute them for each response: `facts.oldNames` grows while the
   * request is handled, and its deprecation fields then replace those of the first translation.
   */
  fields(): readonly HeaderField[]
}

const CLOSE: readonly HeaderField[] = [['Connection', 'close']]
const NO_FIELDS: readonly HeaderField[] = []

/**
 * The context of a request. Facts and context are each one object, which `translate` completes: a copy for each step costs 5 %
 * of a guarded read (npm run bench -- host).
 */
export class EnteredRequest implements RequestContext {
  readonly facts: { -readonly [K in keyof CanonicalFacts]: CanonicalFacts[K] }
  readonly requestId: string
  readonly startedAtMs: number = performance.now()
  readonly traceparent: string | undefined
  readonly decision: DecisionDraft = newDecisionDraft()
  session: RequestContext['session'] = undefined
  readonly #gate: GateContext
  readonly #exposed: readonly HeaderField[]
  #aliasFields = NO_FIELDS

  constructor(gate: GateContext, received: RequestFacts) {
    const { method, path, query, search, header, address, secure, proxyRequestId } = received
    this.requestId = proxyRequestId ?? crypto.randomUUID()
    this.facts = { method, path, receivedPath: path, query, search, header, address, secure, oldNames: [] }
    this.traceparent = gate.settings.observe ? traceparentOf(header('traceparent')) : undefined
    this.#gate = gate
    this.#exposed = gate.settings.exposeHeaders ? exposureFields(this.facts) : NO_FIELDS
  }

  /** Replaces old names by current ones. A translated header field takes precedence over the original one. */
  translate({
    path,
    headers,
    used = [],
    responseHeaders,
  }: {
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly used?: readonly OldName[]
    readonly responseHeaders: readonly HeaderField[]
  }): void {
    const { facts } = this
    const { header } = facts
    facts.path = path
    if (Object.keys(headers).length > 0) facts.header = name => headers[name] ?? header(name)
    facts.oldNames.push(...used)
    this.#aliasFields = responseHeaders
  }

  fields(): readonly HeaderField[] {
    const { draining } = this.#gate
    const deprecationFields = this.#deprecationFields()
    if (this.#exposed.length === 0 && !draining) return deprecationFields
    return [...this.#exposed, ...deprecationFields, ...(draining ? CLOSE : NO_FIELDS)]
  }

  /** A failure of the table is reported, and does not replace the response of a handler that has run. */
  #deprecationFields(): readonly HeaderField[] {
    const { aliases, settings } = this.#gate
    const { oldNames } = this.facts
    if (!aliases?.responseHeaders || oldNames.length === 0) return this.#aliasFields
    try {
      return aliases.responseHeaders(oldNames)
    } catch (error) {
      settings.report({ operation: this.decision.operation ?? 'aliases', error })
      return this.#aliasFields
    }
  }
}
