import { Fault } from '@gatewright/kernel'
import { denialAnswer, errorAnswer, faultAnswer, wire, withFields } from './answer.ts'
import { deny } from './codes.ts'
import { exposure } from './cors.ts'
import type { RequestFacts } from './facts.ts'
import type { Settings } from './options.ts'
import type { AliasPart, WireAnswer } from './parts.ts'
import type { Entered, Stage } from './stages.ts'

/** Renders a failure and reports it: a fault is 503, anything else 500, both with fixed texts. */
export function failure(
  settings: Settings,
  operation: string,
  facts: RequestFacts,
  error: unknown,
): WireAnswer {
  settings.report({ operation, error })
  const shape = settings.shapeOf(facts)
  return wire(error instanceof Fault ? faultAnswer(error, shape) : errorAnswer(shape))
}

/** Translates old names. HTTPS is asked for first, so that nothing is decided about a request sent in the clear. */
export function enter(
  settings: Settings,
  aliases: AliasPart | undefined,
  facts: RequestFacts,
): Stage<Entered> {
  const fields = settings.exposeHeaders ? exposure(facts) : []
  const refuse = (answer: WireAnswer): Stage<never> => ({ ok: false, answer: withFields(answer, fields) })
  const no = (denial: Parameters<typeof denialAnswer>[0]): Stage<never> =>
    refuse(wire(denialAnswer(denial, settings.shapeOf(facts))))
  if (settings.requireHttps && !facts.secure)
    return no(deny('https_required', 'this API is served over HTTPS only'))
  if (!aliases) return { ok: true, value: { facts, fields } }
  try {
    const resolved = aliases.resolve(facts)
    if (!resolved.ok) return no(resolved)
    const { path, headers, answerHeaders } = resolved.value
    const header = (name: string): string | undefined => headers[name] ?? facts.header(name)
    const canonical = { ...facts, path, header }
    return { ok: true, value: { facts: canonical, fields: [...fields, ...answerHeaders] } }
  } catch (error) {
    return refuse(failure(settings, `${facts.method} ${facts.path}`, facts, error))
  }
}
