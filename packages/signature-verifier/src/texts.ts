import type { EpochMs } from '@gatewright/kernel'
import { invalidRequest, invalidSignature, type ProofDenial } from './codes.ts'
import type { CheckedOptions } from './options.ts'
import type { Statement } from './proof.ts'
import type { Reading } from './template.ts'

/** A text that may have been signed, and the template it is of. */
export type Text = Extract<Reading, { is: 'text' }> & { readonly template: string }

/**
 * The texts that may have been signed: at most two, rendered from the fields, or the one that the client sent.
 * Denials: `invalid_request` for a message of no template, `invalid_signature` for one that says something else than
 * the request or the host, or is not valid yet.
 */
export function textsOf(
  { templates, rendered, skewMs }: CheckedOptions,
  { fields, message, template: hint }: Statement,
  now: EpochMs,
): readonly Text[] | ProofDenial {
  const named = hint === undefined ? templates : templates.filter(template => template.name === hint)
  if (named.length === 0) return invalidRequest('template', 'is not known here')
  const tried = message === undefined && hint === undefined ? rendered : named
  const facts = { fields, message }
  const texts: Text[] = []
  let contrary: string | undefined
  let missing: string | undefined
  for (const { name, source, read } of tried) {
    if (source === 'message' && message === undefined) continue
    const reading = read(facts)
    if (reading.is === 'text') texts.push({ ...reading, template: name })
    if (reading.is === 'contrary') contrary ??= reading.reason
    if (reading.is === 'other') missing ??= reading.missing
  }
  const [text] = texts
  if (text === undefined) {
    if (contrary !== undefined) return invalidSignature(contrary)
    if (message !== undefined) return invalidRequest('message', 'is of no known template')
    return invalidRequest(missing ?? 'message', 'is required by the template')
  }
  if (text.notBefore !== undefined && text.notBefore > now + skewMs) return invalidSignature('not valid yet')
  return texts
}
