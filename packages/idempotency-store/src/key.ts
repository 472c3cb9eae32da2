import { allow, type Verdict } from '@gatewright/kernel'
import { deny, type IdempotencyDenial } from './codes.ts'

/** Visible ASCII without the quote, backslash and comma; a comma is what two header lines are joined by. */
function isBare(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x21 || code > 0x7e || code === 0x22 || code === 0x2c || code === 0x5c) return false
  }
  return text !== ''
}

/** A string of a structured field (RFC 9651 section 3.3.3). */
const STRING = /"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y

/** A parameter (RFC 9651 section 3.1.2): its value is a number, a string, a token, bytes, a boolean, a date or a display string. */
const PARAMETER = new RegExp(
  `; *[a-z*][a-z0-9_.*-]*(?:=(?:${[
    '-?(?:[0-9]{1,12}\\.[0-9]{1,3}|[0-9]{1,15})',
    STRING.source,
    "[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*",
    ':[A-Za-z0-9+/=]*:',
    '\\?[01]',
    '@-?[0-9]{1,15}',
    '%"(?:[ !#$&-~]|%[0-9a-f]{2})*"',
  ].join('|')}))?(?=;|$)`,
  'y',
)

/** The content of a quoted key, without its parameters. Undefined for a malformed structured field and for spaces only. */
function unquoted(text: string): string | undefined {
  STRING.lastIndex = 0
  const content = STRING.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1')
  let end = STRING.lastIndex
  while (end < text.length) {
    PARAMETER.lastIndex = end
    if (!PARAMETER.test(text)) return undefined
    end = PARAMETER.lastIndex
  }
  return content?.trim() === '' ? undefined : content
}

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t'

/** Without the spaces around it. (A regular expression would look for the end anew from each space of a long row.) */
function trimmed(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && isBlank(text[from])) from++
  while (from < to && isBlank(text[to - 1])) to--
  return text.slice(from, to)
}

/** Bounds of a key's length in characters, both included. */
export interface KeyLength {
  readonly min: number
  readonly max: number
}

/**
 * Reads the `Idempotency-Key` header field. The bare form and the structured-field string
 * (draft-ietf-httpapi-idempotency-key-header-07 section 2.1) of one text are the same key, whatever parameters the string
 * carries; spaces around it do not count, and a key of spaces only is refused. A key is at least `min` and at most `max`
 * characters, counted after unquoting. Denials: `idempotency_key_required`, `idempotency_key_invalid`.
 */
export function readKey(header: string | undefined, length: KeyLength): Verdict<string, IdempotencyDenial> {
  const field = 'idempotency-key'
  const bare = header !== undefined && isBare(header)
  const text = bare ? header : header && trimmed(header)
  if (text === undefined || text === '') {
    return deny('idempotency_key_required', 'This operation needs an Idempotency-Key header.', { field })
  }
  const key = bare || isBare(text) ? text : unquoted(text)
  if (key === undefined || key.length < length.min || key.length > length.max) {
    const rule = `${length.min} to ${length.max} visible ASCII characters, bare or as one quoted string`
    return deny('idempotency_key_invalid', `Idempotency-Key must be ${rule}.`, { field })
  }
  return allow(key)
}
