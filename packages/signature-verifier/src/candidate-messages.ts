import type { EpochMs } from '@gatewright/kernel'
import { invalidRequest, invalidSignature, type ProofDenial } from './codes.ts'
import type { CheckedOptions } from './options.ts'
import { MAX_SKEW_MS, type Statement } from './proof.ts'
import type { Template, TemplateInput, TemplateMatch } from './templates/template.ts'

/** A message that the wallet may have signed, and the name of its template. */
export interface CandidateMessage {
  readonly match: Extract<TemplateMatch, { kind: 'match' }>
  readonly template: string
}

/** The messages that may have been signed. Nearly always it is the first one, so the others are rendered only when needed. */
export interface CandidateMessageList {
  readonly first: CandidateMessage
  others(): readonly CandidateMessage[]
}

/**
 * Lists the messages that the wallet may have signed: at most two that are rendered from the fields, or the one that the client
 * sent. Denials: `invalid_request` for a message that matches no template; `invalid_signature` for a message that differs from
 * the request or the host, or is not valid yet.
 */
export function candidateMessages(
  { templates, rendered }: CheckedOptions,
  { fields, message, template: templateName }: Statement,
  now: EpochMs,
): CandidateMessageList | ProofDenial {
  const allowed =
    templateName === undefined ? templates : templates.filter(template => template.name === templateName)
  if (allowed.length === 0) return invalidRequest('template', 'is not known here')
  const tried = message === undefined && templateName === undefined ? rendered : allowed
  const input = { fields, message }
  let mismatch: string | undefined
  let missing: string | undefined
  for (let index = 0; index < tried.length; index++) {
    const template = tried[index] as Template
    const match = matchTemplate(template, input)
    if (match?.kind === 'match') {
      if (match.notBefore !== undefined && match.notBefore > now + MAX_SKEW_MS)
        return invalidSignature('not valid yet')
      const others = (): readonly CandidateMessage[] =>
        tried.slice(index + 1).flatMap(other => candidatesOf(other, input))
      return { first: { match, template: template.name }, others }
    }
    if (match?.kind === 'mismatch') mismatch ??= match.field
    if (match?.kind === 'other') missing ??= match.missing
  }
  if (mismatch !== undefined) return invalidSignature(`message and request differ in ${mismatch}`)
  if (message !== undefined) return invalidRequest('message', 'is of no known template')
  return invalidRequest(missing ?? 'message', 'is required by the template')
}

/** Matches the input with a template; undefined where the template needs a message and the client sent none. */
function matchTemplate(template: Template, input: TemplateInput): TemplateMatch | undefined {
  return template.source === 'message' && input.message === undefined ? undefined : template.read(input)
}

function candidatesOf(template: Template, input: TemplateInput): readonly CandidateMessage[] {
  const match = matchTemplate(template, input)
  return match?.kind === 'match' ? [{ match, template: template.name }] : []
}
