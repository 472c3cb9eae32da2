/** A JSON Schema, as far as bodies of the host use it. */
export interface Schema {
  readonly type?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Where a body can hold a text, and which texts a name there may be. */
export interface Place {
  readonly at: readonly (string | number)[]
  /** What the schema says of the text, as JSON. Absent: nothing. */
  readonly rule?: string
  readonly takes?: (text: string) => boolean
}

/** Every place where a schema takes a text, or does not say what it takes. An object without members takes any. */
export function textPlaces(schema: Schema, at: Place['at'] = []): Place[] {
  const { type, format, minLength, maxLength, properties, items, anyOf } = schema
  if (anyOf) return anyOf.flatMap(each => textPlaces(each, at))
  if (items) return textPlaces(items, [...at, 0])
  const members = Object.entries(properties ?? {})
  if (members.length > 0) return members.flatMap(([name, each]) => textPlaces(each, [...at, name]))
  if (type === 'object') return [{ at: [...at, 'any'] }]
  const {
    description: _description,
    minLength: _least,
    maxLength: _most,
    ...checks
  } = schema as Schema & {
    readonly description?: string
  }
  const rule = JSON.stringify(checks)
  if (format === 'name') return [{ at, rule, takes: text => isName(text, minLength, maxLength) }]
  return type === undefined || type === 'string' ? [{ at, rule }] : []
}

/** A copy of a body with a text at a place; what has to be around it is made. */
export function put(body: unknown, [first, ...rest]: Place['at'], text: string): unknown {
  if (first === undefined) return text
  const within = typeof first === 'number' ? [...list(body)] : { ...(body as object) }
  return Object.assign(within, { [first]: put((within as Record<string, unknown>)[first], rest, text) })
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** An array as deep as that. */
export function nestedJson(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}

/** The rule for names of the host, written out independently of it. */
export function isName(text: string, least = 0, most = 120): boolean {
  const characters = [...text]
  return (
    characters.length >= least &&
    characters.length <= most &&
    text.isWellFormed() &&
    text.normalize('NFC') === text &&
    !characters.some(each => each < ' ' || (each >= '\u007f' && each <= '\u009f'))
  )
}

/** The hostile texts that a database refuses or changes. */
export const STORE_TEXTS = [
  'a lone high surrogate',
  'a NUL at the end',
  'a NUL in the middle',
  'a C0 control',
]

/** Texts that stores, readers and terminals take differently. */
export const HOSTILE_TEXTS: Readonly<Record<string, string>> = {
  'a lone high surrogate': 'bob\ud83d',
  'another lone high surrogate': 'bob\ud83e',
  'a lone low surrogate': 'bob\ude00',
  'a reversed pair': 'bob\ude00\ud83d',
  'the replacement character': 'bob\ufffd',
  'a NUL at the end': 'bob\0',
  'a NUL in the middle': 'bob\0eve',
  'the text without it': 'bob',
  'a C0 control': 'bob\u0001',
  'a line feed': 'bob\n',
  'an escape sequence': '\u001b[31mbob',
  DEL: 'bob\u007f',
  'a C1 control': 'bob\u0085',
  NFC: 'zo\u00e9',
  'NFD of the same': 'zoe\u0301',
  'a compatibility form, which is NFC': '\u{1d41b}ob',
  'a singleton, which is not': '\u212b',
  'what it becomes': '\u00c5',
  'a joiner': 'bo\u200db',
  'a non-joiner': 'bo\u200cb',
  'an override of the direction': '\u202ebob',
  'a byte order mark': '\ufeffbob',
  'a line separator': 'bob\u2028',
  'a no-break space': 'bob\u00a0',
  'a trailing space': 'bob ',
  'a non-character': 'bob\uffff',
  'four bytes in UTF-8': '\u{1f600}',
  'joined emoji': '\u{1f469}\u200d\u{1f680}',
  'too long': 'b'.repeat(121),
  'too long for an index': 'b'.repeat(9000),
  'as long as may be, four bytes each': '\u{1f600}'.repeat(120),
  'a prototype': '__proto__',
  'its constructor': 'constructor',
  'upper case': 'BOB',
  'percent-encoding': 'bob%00',
  quotes: `'";--\\`,
  empty: '',
}

/** Parts of a request target that decoders read differently, none of them the end of an id. */
export const HOSTILE_ESCAPES: readonly string[] = [
  '%00',
  '%0a',
  '%1b',
  '%7f',
  '%20',
  '%c2%85',
  '%ff',
  '%c0%80',
  '%ed%a0%bd',
  '%ed%b8%80',
  '%ed%a0%bd%ed%b8%80',

  '%ef%bf%bd',
  '%ef%bb%bf',
  '%e2%80%8d',
  '%e2%80%ae',
  '%c3%a9',
  'e%cc%81',
  '%f0%9f%98%80',
  '%f4%90%80%80',
  '%',
  '%zz',
  '%u0000',
  '%2500',
  '%252e',
  '%2f',
  '%5c',
  '__proto__',
  'constructor',
  'b'.repeat(5000),
]
