import type { HeaderField } from '@gatewright/kernel'
import type { Settings } from '../options.ts'
import type { AliasPort } from '../ports.ts'
import type { CanonicalFacts, RequestFacts } from '../request/facts.ts'
import { exposureFields } from '../response/cors.ts'
import { newDecisionDraft, type DecisionDraft } from '../response/decision.ts'

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
  readonly requestId: string
  readonly startedAtMs: number
  readonly decision: DecisionDraft
  /**
   * Returns header fields for every response, errors included. Compute them for each response: `facts.oldNames` grows while the
   * request is handled, and its deprecation fields then replace those of the first translation.
   */
  fields(): readonly HeaderField[]
}

const CLOSE: readonly HeaderField[] = [['Connection', 'close']]

/**
 * Makes the context of a request. `original` is the context of the same request before the translation: id, start, decision
 * draft and old names are shared with it. `aliasFields` are the header fields that the translation returned.
 */
export function createRequestContext(
  gate: GateContext,
  facts: RequestFacts,
  original?: RequestContext,
  aliasFields: readonly HeaderField[] = [],
): RequestContext {
  const { settings, aliases } = gate
  const oldNames = original?.facts.oldNames ?? []
  const exposed = settings.exposeHeaders ? exposureFields(facts) : []
  return {
    facts: { ...facts, oldNames },
    requestId: original?.requestId ?? crypto.randomUUID(),
    startedAtMs: original?.startedAtMs ?? performance.now(),
    decision: original?.decision ?? newDecisionDraft(),
    fields() {
      const deprecationFields =
        aliases?.responseHeaders && oldNames.length > 0 ? aliases.responseHeaders(oldNames) : aliasFields
      return [...exposed, ...deprecationFields, ...(gate.draining ? CLOSE : [])]
    },
  }
}
