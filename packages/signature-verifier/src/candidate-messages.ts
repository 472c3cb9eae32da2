import type { EpochMs } from '@gatewright/kernel'
import { invalidRequest, invalidSignature, type ProofDenial } from './codes.ts'
import type { CheckedOptions } from './options.ts'
import type { Statement } from './proof.ts'
import type { Reading, Template, TemplateFacts } from './templates/line-template.ts'

/** A text that may have been signed, and the template it is of. */
export interface Text {
  readonly reading: Extract<Reading, { is: 'text' }>
  readonly template: string
}

/** The texts that may have been signed. The first is nearly always the one, so the others wait until asked for. */
export interface Texts {
  readonly first: Text
  others(): readonly Text[]
}

/**
 * The texts that may have been signed: at most two, rendered from the fields, or the one that the client sent.
 * Denials: `invalid_request` for a message of no template, `invalid_signature` for one that says something else than
 * the request or the host, or is not valid yet.
 */
export function textsOf(
  { templates, rendered, skewMs }: CheckedOptions,
  { fields, message, template: hint }: Statement,
  now: EpochMs,
): Texts | ProofDenial {
  const named = hint === undefined ? templates : templates.filter(template => template.name === hint)
  if (named.length === 0) return invalidRequest('template', 'is not known here')
  const tried = message === undefined && hint === undefined ? rendered : named
  const facts = { fields, message }
  let contrary: string | undefined
  let missing: string | undefined
  for (let index = 0; index < tried.length; index++) {
    const template = tried[index] as Template
    const reading = readOf(template, facts)
    if (reading?.is === 'text') {
      if (reading.notBefore !== undefined && reading.notBefore > now + skewMs)
        return invalidSignature('not valid yet')
      const others = (): readonly Text[] => tried.slice(index + 1).flatMap(other => textOf(other, facts))
      return { first: { reading, template: template.name }, others }
    }
    if (reading?.is === 'contrary') contrary ??= reading.field
    if (reading?.is === 'other') missing ??= reading.missing
  }
  if (contrary !== undefined) return invalidSignature(`message and request differ in ${contrary}`)
  if (message !== undefined) return invalidRequest('message', 'is of no known template')
  return invalidRequest(missing ?? 'message', 'is required by the template')
}

/** What a template says; undefined where it needs a message that was not sent. */
function readOf(template: Template, facts: TemplateFacts): Reading | undefined {
  return template.source === 'message' && facts.message === undefined ? undefined : template.read(facts)
}

function textOf(template: Template, facts: TemplateFacts): readonly Text[] {
  const reading = readOf(template, facts)
  return reading?.is === 'text' ? [{ reading, template: template.name }] : []
}
