import { isPlainLine } from './text.ts'

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
  /** The message is not of this template, or the template needs a field that was not sent. */
  | { readonly is: 'other'; readonly reason: string }
  /** The message is of this template, but says something else than the request or the host. */
  | { readonly is: 'contrary'; readonly reason: string }

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
  const label = (line: Line, service: string): string => line.label.replaceAll('\u0000', service)

  /** Values by field, or undefined when the text is not of this template. */
  const parse = (text: string, service: string): Record<string, string | undefined> | undefined => {
    const found = text.split('\n')
    if (found.length !== parsed.length) return undefined
    const values: Record<string, string | undefined> = {}
    for (const [index, line] of parsed.entries()) {
      const start = label(line, service)
      const rest = (found[index] as string).slice(start.length)
      if (!found[index]?.startsWith(start)) return undefined
      if (line.field === undefined && rest !== '') return undefined
      if (line.field !== undefined) values[line.field] = rest === line.absent ? undefined : rest
    }
    return values
  }

  return {
    ...{ name, source, uses },
    read({ fields, message }) {
      const service = fields['service'] as string
      const missing = parsed.find(line => line.field && !line.absent && fields[line.field] === undefined)
      if (missing) return { is: 'other', reason: `template ${name} needs ${missing.field}` }
      const value = (line: Line): string => (line.field ? (fields[line.field] ?? line.absent ?? '') : '')
      const text = parsed.map(line => label(line, service) + value(line)).join('\n')
      if (message !== undefined && message !== text) {
        const said = parse(message, service)
        if (!said) return { is: 'other', reason: `message is not of template ${name}` }
        const field = uses.find(used => said[used] !== fields[used])
        return { is: 'contrary', reason: `message and request differ in ${field}` }
      }
      const binds = BINDINGS.filter(([, field]) => uses.includes(field) && fields[field] !== undefined)
      const chainId = uses.includes('chainId') ? fields['chainId'] : undefined
      return { is: 'text', text, binds: binds.map(([binding]) => binding), chainId }
    },
  }
}
