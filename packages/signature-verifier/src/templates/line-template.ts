import { plainChainId } from './chain-id.ts'
import { isPlainLine } from './plain-text.ts'
import type { Binding, Template, TemplateInput, TemplateMatch } from './template.ts'

interface Line {
  readonly label: string
  readonly field: string | undefined
  readonly absent: string | undefined
}

const LINE = /^([^{}]*)(?:\{([a-zA-Z]+)(?:\|([^{}]+))?\})?$/
const NO_BINDINGS: readonly Binding[] = Object.freeze([])
const REQUIRED = ['address', 'nonce', 'issuedAt', 'expiresAt']
const BINDINGS: readonly [Binding, string][] = [
  ['chain', 'chainId'],
  ['domain', 'domain'],
  ['request', 'requestDigest'],
]

/** Parses `Label: {field}` or `Label: {field|text when absent}`. `{service}` may be anywhere in a line. */
function readLine(name: string, text: string): Line {
  const match = LINE.exec(text.replaceAll('{service}', '\u0000'))
  if (!match || !isPlainLine(text)) {
    throw new TypeError(
      `template "${name}": a line must be one plain line with at most one {field}, at its end, got ${JSON.stringify(text)}`,
    )
  }
  return { label: match[1] as string, field: match[2], absent: match[3] }
}

/**
 * Creates a template from its lines: fixed text, then at most one `{field}` or `{field|text when absent}` at the end of
 * a line. `{service}` is the host's name. Any other name is a field of the request, rendered as sent. Lines are joined
 * by one LF, with none at the end. No field can contain a line end, so a text has only one reading. Throws a
 * `TypeError` unless address, nonce, issuedAt and expiresAt all appear and no field appears twice.
 */
export function lineTemplate(
  name: string,
  lines: readonly string[],
  source: Template['source'] = 'fields',
): Template {
  const parsed = lines.map(line => readLine(name, line))
  const uses = parsed.flatMap(({ field }) => field ?? [])
  for (const field of REQUIRED) {
    if (!uses.includes(field)) throw new TypeError(`template "${name}" must have a {${field}} line`)
  }
  if (new Set(uses).size !== uses.length) throw new TypeError(`template "${name}" has a field twice`)
  const bindable = BINDINGS.filter(([, field]) => uses.includes(field))
  const bindsChain = uses.includes('chainId')
  /** The labels with the service's name in them, cached for the one service of a verifier. */
  let cachedLabels: { readonly service: string; readonly labels: readonly string[] } | undefined
  const labelsFor = (service: string): readonly string[] => {
    if (cachedLabels?.service !== service) {
      cachedLabels = { service, labels: parsed.map(({ label }) => label.replaceAll('\u0000', service)) }
    }
    return cachedLabels.labels
  }

  /** Returns why a message is not the rendered text: it belongs to another template, or a field differs. */
  const explainDifference = (
    message: string,
    labels: readonly string[],
    fields: TemplateInput['fields'],
  ): TemplateMatch => {
    const values = parseLines(message, parsed, labels)
    if (!values) return { kind: 'other', reason: `message does not have the lines of template ${name}` }
    // The message differs from the text, so at least one field differs.
    const field = uses.find(used => values[used] !== fields[used]) as string
    return { kind: 'mismatch', field }
  }

  return {
    name,
    source,
    uses,
    fieldsOf: (message, service) => parseLines(message, parsed, labelsFor(service)),
    read({ fields, message }) {
      const labels = labelsFor(fields['service'] as string)
      let text = ''
      for (let index = 0; index < parsed.length; index++) {
        const { field, absent } = parsed[index] as Line
        const value = field === undefined ? '' : (fields[field] ?? absent)
        if (value === undefined)
          return { kind: 'other', reason: `template ${name} needs ${field}`, missing: field }
        text += index === 0 ? `${labels[0]}${value}` : `\n${labels[index]}${value}`
      }
      if (message !== undefined && message !== text) return explainDifference(message, labels, fields)
      const sent = bindsChain ? fields['chainId'] : undefined
      const chainId = sent === undefined ? undefined : plainChainId(sent)
      if (bindable.length === 0) return { kind: 'match', text, binds: NO_BINDINGS, chainId }
      const binds = bindable.filter(([, field]) => fields[field] !== undefined).map(([binding]) => binding)
      return { kind: 'match', text, binds, chainId }
    },
  }
}

/** Parses the values by field; undefined when the text does not have exactly these lines. */
function parseLines(
  text: string,
  lines: readonly Line[],
  labels: readonly string[],
): Record<string, string | undefined> | undefined {
  const found = text.split('\n')
  if (found.length !== lines.length) return undefined
  const values: Record<string, string | undefined> = {}
  for (const [index, { field, absent }] of lines.entries()) {
    const [line, label] = [found[index] as string, labels[index] as string]
    if (!line.startsWith(label)) return undefined
    const rest = line.slice(label.length)
    if (field === undefined && rest !== '') return undefined
    if (field !== undefined) values[field] = rest === absent ? undefined : rest
  }
  return values
}
