import { isPlainLine } from './plain-text.ts'

/** What a signed text ties down beyond wallet, nonce and times. A proof that lacks one can be used for another. */
export type Binding = 'chain' | 'domain' | 'request'

/** What a template may put into its text or must find there. */
export interface TemplateFacts {
  /**
   * The statement's fields as sent (absent ones undefined), and what the host knows: `service`, `domain`,
   * `requestDigest`. All are single plain lines.
   */
  readonly fields: Readonly<Record<string, string | undefined>>
  /** The signed text, where the client sent it. */
  readonly message: string | undefined
}

/** The text that the wallet must have signed, or why this template cannot have it. */
export type Reading =
  | {
      readonly is: 'text'
      readonly text: string
      readonly binds: readonly Binding[]
      /** The chain that the text names, where it names one. */
      readonly chainId: string | undefined
      /** The text is not valid before this instant (epoch ms). */
      readonly notBefore?: number | undefined
    }
  /** The message is not of this template, or the template needs the field `missing`. */
  | { readonly is: 'other'; readonly reason: string; readonly missing?: string | undefined }
  /** The message is of this template, but says something else in `field` than the request or the host. */
  | { readonly is: 'contrary'; readonly field: string }

/** One shape of signed text. `lineTemplate` makes one from its lines. */
export interface Template {
  /** What a client names in `template`, and what the verdict carries. */
  readonly name: string
  /** `fields`: rendered from the fields as sent. `message`: the client sends the signed text itself. */
  readonly source: 'fields' | 'message'
  /** Every field the text uses, so that the verifier can check and hand over those it does not know. */
  readonly uses: readonly string[]
  read(facts: TemplateFacts): Reading
}

interface Line {
  readonly label: string
  readonly field: string | undefined
  readonly absent: string | undefined
}

const LINE = /^([^{}]*)(?:\{([a-zA-Z]+)(?:\|([^{}]+))?\})?$/
const NONE: readonly Binding[] = Object.freeze([])
const REQUIRED = ['address', 'nonce', 'issuedAt', 'expiresAt']
const BINDINGS: readonly [Binding, string][] = [
  ['chain', 'chainId'],
  ['domain', 'domain'],
  ['request', 'requestDigest'],
]

/** Reads `Label: {field}` or `Label: {field|text when absent}`; `{service}` may stand anywhere. */
function readLine(name: string, text: string): Line {
  const match = LINE.exec(text.replaceAll('{service}', '\u0000'))
  if (!match || !isPlainLine(text)) {
    throw new TypeError(
      `template "${name}": one plain line with one {field} at its end, not ${JSON.stringify(text)}`,
    )
  }
  return { label: match[1] as string, field: match[2], absent: match[3] }
}

/**
 * Declares a template by its lines: fixed text, then at most one `{field}` or `{field|text when absent}` at the end
 * of a line. `{service}` is the host's name. Any other name is a field of the request, taken as sent. Lines join by
 * one LF, with none at the end; no field can hold a line end, so a text has one reading only.
 * Throws a `TypeError` unless address, nonce, issuedAt and expiresAt all appear, and no field twice.
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
  /** The labels with the service's name in them, for the one service that a verifier has. */
  let labelled: { readonly service: string; readonly labels: readonly string[] } | undefined
  const labelsFor = (service: string): readonly string[] => {
    if (labelled?.service !== service) {
      labelled = { service, labels: parsed.map(({ label }) => label.replaceAll('\u0000', service)) }
    }
    return labelled.labels
  }

  /** Why a message is not the text: of another template, or of this one with other values. */
  const unlike = (message: string, labels: readonly string[], fields: TemplateFacts['fields']): Reading => {
    const said = parseLines(message, parsed, labels)
    if (!said) return { is: 'other', reason: `message is not of template ${name}` }
    // The message is not the text, so one field at least is another.
    const field = uses.find(used => said[used] !== fields[used]) as string
    return { is: 'contrary', field }
  }

  return {
    ...{ name, source, uses },
    read({ fields, message }) {
      const labels = labelsFor(fields['service'] as string)
      let text = ''
      for (let index = 0; index < parsed.length; index++) {
        const { field, absent } = parsed[index] as Line
        const value = field === undefined ? '' : (fields[field] ?? absent)
        if (value === undefined)
          return { is: 'other', reason: `template ${name} needs ${field}`, missing: field }
        text += index === 0 ? `${labels[0]}${value}` : `\n${labels[index]}${value}`
      }
      if (message !== undefined && message !== text) return unlike(message, labels, fields)
      const chainId = bindsChain ? fields['chainId'] : undefined
      if (bindable.length === 0) return { is: 'text', text, binds: NONE, chainId }
      const binds = bindable.filter(([, field]) => fields[field] !== undefined).map(([binding]) => binding)
      return { is: 'text', text, binds, chainId }
    },
  }
}

/** Values by field, or undefined when the text does not have exactly these lines. */
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
