import { allow, type Verdict } from '@gatewright/kernel'
import { deny, type IdempotencyDenial } from '../codes.ts'

/** A key without quotes: visible ASCII without quote, backslash and comma. A comma would join two header lines. */
const BARE_KEY = /^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]+$/

/** A structured-field string (RFC 9651 section 3.3.3). */
const STRING = /"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y

/**
 * A structured-field parameter (RFC 9651 section 3.1.2). Its value is a number, string, token, byte sequence, boolean, date
 * or display string.
 */
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

/** Returns the content of a quoted key without its parameters. Undefined if the field is malformed or the key is all spaces. */
function unquote(text: string): string | undefined {
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

/** Removes spaces and tabs at both ends. A regular expression would take quadratic time on a long run of spaces. */
function trimBlanks(text: string): string {
  let [from, to] = [0, text.length]
  while (isBlank(text[from])) from++
  while (isBlank(text[to - 1])) to--
  return text.slice(from, to)
}

/**
 * Reads the `Idempotency-Key` header field. The bare form and the structured-field string
 * (draft-ietf-httpapi-idempotency-key-header-07 section 2.1) of a text are the same key. Parameters of the string and
 * blanks around it are ignored; a key of spaces only is denied. After unquoting, a key has `min` to `max` characters, both
 * included. Denials: `idempotency_key_required`, `idempotency_key_invalid`.
 */
export function readKey(
  header: string | undefined,
  length: { readonly min: number; readonly max: number },
): Verdict<string, IdempotencyDenial> {
  const field = 'idempotency-key'
  const isBare = header !== undefined && BARE_KEY.test(header)
  const text = isBare ? header : trimBlanks(header ?? '')
  if (text === '') {
    return deny('idempotency_key_required', 'This operation needs an Idempotency-Key header.', { field })
  }
  const key = isBare || BARE_KEY.test(text) ? text : unquote(text)
  if (key === undefined || key.length < length.min || key.length > length.max) {
    const rule = `${length.min} to ${length.max} visible ASCII characters, bare or as one quoted string`
    return deny('idempotency_key_invalid', `Idempotency-Key must be ${rule}.`, { field })
  }
  return allow(key)
}
