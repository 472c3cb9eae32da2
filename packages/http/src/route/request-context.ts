import type { Session, Verdict, HeaderField } from '@gatewright/kernel'
import type { Settings } from '../options.ts'
import type { AliasPort, CallerIds } from '../ports.ts'
import type { CanonicalFacts, OldName, RequestFacts } from '../request/facts.ts'
import { exposureFields } from '../response/cors.ts'
import { newDecisionDraft, traceparentOf, type DecisionDraft } from '../response/decision.ts'
import type { Render } from '../response/outcome.ts'

/** The state that all requests of a gate share. */
export interface GateContext {
  readonly settings: Settings
  readonly aliases: AliasPort | undefined
  /** Whether the server is shutting down. Responses then close their connection. */
  draining: boolean
}

/** A verified credential. */
export interface Authentication {
  /** The name of the credential; undefined for an operation that anyone may call. */
  readonly credential: string | undefined
  readonly caller: unknown
  readonly headers: readonly HeaderField[]
  readonly ids: CallerIds | undefined
  /** Decides again whether the caller may proceed. Undefined: the caller may. */
  readonly recheck: (() => Promise<Verdict<unknown>>) | undefined
}

const CLOSE: readonly HeaderField[] = [['Connection', 'close']]
const NO_FIELDS: readonly HeaderField[] = []

/**
 * What a gate knows about one request after its old names (of paths, header fields and body members) were translated to current ones,
 * with what its decision event will contain. It is one object, which the steps of the gate complete: a copy for each step costs 5 % of a
 * guarded read (npm run bench -- host).
 */
export class RequestContext {
  readonly facts: CanonicalFacts
  /** The id of a trusted proxy, or a new one. */
  readonly requestId: string
  readonly startedAtMs: number = performance.now()
  /** The field `traceparent`, for the decision event. Read on arrival: Deno lets nobody read a request whose connection was taken over. */
  readonly traceparent: string | undefined
  readonly decision: DecisionDraft = newDecisionDraft()
  /** The session that a guard has accepted, or what `session(request)` has asked for. */
  session: Session | Promise<Verdict<Session>> | undefined = undefined
  /** The credential that the route has verified; undefined before. */
  authentication: Authentication | undefined = undefined
  /** When it was verified (`performance.now()`). */
  authenticatedAtMs = 0
  /** Header fields of the route for this response, beside those of every response: those of the credential and of `admit`. */
  routeFields: readonly HeaderField[] = NO_FIELDS
  /** Renders the outcome of this request, instead of the renderer of the gate. Undefined: that of the gate. */
  render: Render | undefined = undefined
  readonly #gate: GateContext
  readonly #exposed: readonly HeaderField[]
  #aliasFields = NO_FIELDS

  constructor(gate: GateContext, received: RequestFacts) {
    const { method, path, receivedPath = path, query, search } = received
    const { header, address, secure, proxyRequestId } = received
    this.requestId = proxyRequestId ?? crypto.randomUUID()
    this.facts = { method, path, receivedPath, query, search, header, address, secure, oldNames: [] }
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
    const facts: { -readonly [K in keyof CanonicalFacts]: CanonicalFacts[K] } = this.facts
    const { header } = facts
    facts.path = path
    if (Object.keys(headers).length > 0) facts.header = name => headers[name] ?? header(name)
    facts.oldNames.push(...used)
    this.#aliasFields = responseHeaders
  }

  /**
   * Returns header fields for every response, errors included. Compute them for each response: `facts.oldNames` grows while the
   * request is handled, and its deprecation fields then replace those of the first translation.
   */
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
