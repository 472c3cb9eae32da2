import type { HeaderField } from '@gatewright/kernel'
import type { Settings } from '../options.ts'
import type { AliasPort } from '../ports.ts'
import type { CanonicalFacts, RequestFacts } from '../request/facts.ts'
import { exposureFields } from '../response/cors.ts'
import { newDecisionDraft, type DecisionDraft } from '../response/decision.ts'

/** What a gate needs in every step. */
export interface GateContext {
  readonly settings: Settings
  readonly aliases: AliasPort | undefined
  /** Whether the server is shutting down. Responses then close their connection. */
  draining: boolean
}

/** One request under current names, with what its decision event will contain. */
export interface RequestContext {
  readonly facts: CanonicalFacts
  readonly requestId: string
  readonly startedAtMs: number
  readonly decision: DecisionDraft
  /** Returns header fields for every response, errors included. It depends on the old names that are known so far. */
  fields(): readonly HeaderField[]
}

const CLOSE: readonly HeaderField[] = [['Connection', 'close']]

/**
 * Makes the context of a request. `original` is the context of the same request under the names that it was sent with, and
 * `aliasFields` are the fields that the translation of these names returned.
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
      const named =
        aliases?.responseHeaders && oldNames.length > 0 ? aliases.responseHeaders(oldNames) : aliasFields
      return [...exposed, ...named, ...(gate.draining ? CLOSE : [])]
    },
  }
}
