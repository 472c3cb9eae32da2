import { deny } from '../codes.ts'
import type { RequestFacts } from '../request/facts.ts'
import { noteUnnamedProxy } from '../request/unnamed-proxy.ts'
import type { Outcome } from '../response/outcome.ts'
import { conclude } from './conclude.ts'
import { RequestContext, type GateContext } from './request-context.ts'
import type { StepResult } from './steps.ts'

/**
 * Begins a request: first denies plain HTTP if HTTPS is required, then translates old names of paths and header fields into
 * current ones. Denials: `https_required`, `invalid_request`, and those of the aliases.
 */
export function enter(gate: GateContext, received: RequestFacts): StepResult<RequestContext> {
  const { settings, aliases } = gate
  const context = new RequestContext(gate, received)
  const respond = (outcome: Outcome): StepResult<never> => ({
    ok: false,
    response: conclude(gate, context, outcome),
  })
  noteUnnamedProxy(settings, received)
  if (settings.requireHttps && !received.secure)
    return respond({ kind: 'denial', denial: deny('https_required', 'this API is served over HTTPS only') })
  if (!received.path.startsWith('/'))
    return respond({
      kind: 'denial',
      denial: deny('invalid_request', 'the request target must begin with "/"'),
    })
  if (!aliases) return { ok: true, value: context }
  try {
    const resolved = aliases.resolve(received)
    if (!resolved.ok) {
      // A denial also has `used`, so that old names are counted and their header fields are sent.
      const { oldNames } = context.facts
      oldNames.push(...((resolved as { used?: typeof oldNames }).used ?? []))
      return respond({ kind: 'denial', denial: resolved })
    }
    context.translate(resolved.value)
    return { ok: true, value: context }
  } catch (error) {
    return respond({ kind: 'failure', error })
  }
}
